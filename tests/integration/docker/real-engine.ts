import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { TOOLS } from "../../support/debian-packages.ts";
import { until } from "../../support/until.ts";
import { debianRoot } from "../debian-root.ts";
import { type ControlGroup, makeControlGroup } from "./cgroup.ts";

const PACKAGES = ["docker.io", "docker-cli", "busybox-static"];
const START_LIMIT_MS = 60_000;

/** A running Docker engine of Debian's, without a network. */
export type RealEngine = {
  socket: string;
  /** Runs the engine's own client and returns what it prints. */
  docker(...words: string[]): string;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts the engine of a Debian root, with an image `tiny` that has busybox and nothing else.
 *
 * Shape: the engine, or why it cannot be had here, as a sentence for people.
 */
export async function startRealEngine(): Promise<RealEngine | { missing: string }> {
  if (process.getuid?.() !== 0) return { missing: "a container engine needs root: sudo make integration" };
  const root = await debianRoot({ packages: PACKAGES });
  if ("missing" in root) return root;
  const folder = mkdtempSync(join(TOOLS, "docker-"));
  const group = makeControlGroup(`opsctl-${basename(folder)}`);
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  if ("missing" in group) {
    removeFolder();
    return group;
  }
  for (const name of ["over", "shared"]) mkdirSync(join(folder, name));
  const started = startProcess(root.path, folder, group);
  const engine = {
    socket: join(folder, "shared/docker.sock"),
    docker: (...words: string[]) =>
      inEngine(started.child, ["docker", "-H", "unix:///mnt/docker.sock", ...words]),
    async [Symbol.asyncDispose]() {
      await started.end();
      await group.remove();
      removeFolder();
    },
  };
  const isUp = await comesUp(started.child, engine.socket);
  if (isUp) {
    const pack = "tar -c --transform 's|.*/|bin/|' -C / usr/bin/busybox";
    inEngine(started.child, ["sh", "-c", `${pack} | docker -H unix:///mnt/docker.sock import - tiny`]);
    return engine;
  }
  await engine[Symbol.asyncDispose]();
  return { missing: `Debian's Docker engine does not start here: ${started.lastLine()}` };
}

function startProcess(root: string, folder: string, { joins }: ControlGroup) {
  const script = join(import.meta.dirname, "start-engine.sh");
  // Ends with this process, however it ends.
  const words = ["--pdeathsig", "KILL", "sh", script, root, folder, ...joins];
  const child = spawn("setpriv", words, { stdio: ["ignore", "pipe", "pipe"] });
  let last = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text) => {
      last = String(text).trim().split("\n").at(-1) ?? last;
    });
  const ended = once(child, "close");
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return { child, end, lastLine: () => last };
}

async function comesUp(child: ChildProcess, socket: string): Promise<boolean> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const answers = () =>
    fetch("http://localhost/_ping", { unix: socket }).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    await until("the engine to answer", async () => isOver() || (await answers()), START_LIMIT_MS);
  } catch {
    return false;
  }
  return !isOver();
}

/** Runs a program among the files of the engine. */
function inEngine({ pid }: ChildProcess, words: string[]): string {
  const inside = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  const enter = ["--target", inside, "--mount", "--root", "--wd=/", ...words];
  const { status, stdout, stderr } = spawnSync("nsenter", enter, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${words.join(" ")} ended with ${status}: ${stderr}`);
  return stdout.trim();
}
