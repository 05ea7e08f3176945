/** Runs `opsctl` as a process, without the caller's environment. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { atEnd } from "../../support/at-end.ts";
import { opsctlBinary } from "../../support/binary.ts";
import { denoBinary } from "../../support/deno-binary.ts";
import { denoCache } from "../../support/deno-cache.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const main = join(root, "cli/main.ts");

/** What runs the command; Deno does in tests/e2e/deno-smoke.test.ts alone. */
export type RuntimeName = "binary" | "bun" | "deno";

/** How a process is started; the default is the compiled binary in an empty folder. */
export type StartOptions = {
  env?: Record<string, string | undefined>;
  runtime?: RuntimeName;
  cwd?: string;
  /** A descriptor that gets standard output, instead of a pipe that the test reads. */
  stdout?: number | "pipe";
  /** The same of standard error. */
  stderr?: number | "pipe";
  /** A command before the program that replaces itself by it, such as a shell with `exec "$@"`. */
  through?: readonly string[];
  /** A descriptor of this process that the new process gets as descriptor 3. */
  handedOver?: number | undefined;
};

/** How a process ended, and what it wrote. */
export type Ended = {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** The object of the one line of standard output; throws when there is anything but one line of JSON. */
  readonly json: Record<string, unknown>;
  /** The same, of `opsctl weekly`. */
  readonly summary: WeeklySummary;
};

/** A running process. */
export type Running = {
  pid: number;
  child: ChildProcess;
  kill(signal: NodeJS.Signals): void;
  ended: Promise<Ended>;
};

/** The home of the runtimes, and the working directory of a process that names none. */
const home = mkdtempSync(join(tmpdir(), "opsctl-home-"));
const empty = mkdtempSync(join(tmpdir(), "opsctl-empty-"));
atEnd(() => {
  for (const folder of [home, empty]) rmSync(folder, { recursive: true, force: true });
});

/** The words that start opsctl on that runtime. */
export async function commandOf(runtime: RuntimeName): Promise<string[]> {
  if (runtime === "binary") return [await opsctlBinary()];
  if (runtime === "bun") return [process.execPath, main];
  return [denoBinary(), "run", "-A", main];
}

/** Starts `opsctl` with these arguments. */
export async function startOpsctl(args: string[], options: StartOptions = {}): Promise<Running> {
  const { runtime = "binary", through = [], env } = options;
  const ofDeno = runtime === "deno" ? { DENO_DIR: denoCache(), DENO_NO_UPDATE_CHECK: "1" } : {};
  const ofRuntime = runtime === "binary" ? {} : { HOME: home, PATH: process.env.PATH, ...ofDeno };
  return startProgram([...through, ...(await commandOf(runtime)), ...args], {
    ...options,
    // No file of this machine: a test that is about such files names a directory.
    env: { ...ofRuntime, OPSCTL_ENV_DIR: "", ...env },
  });
}

/** Starts a program that is `opsctl` or replaces itself by it. */
export function startProgram(
  [program, ...args]: string[],
  { env = {}, cwd = empty, stdout = "pipe", stderr = "pipe", handedOver }: StartOptions = {},
): Running {
  const more = handedOver === undefined ? [] : [handedOver];
  const child = spawn(program!, args, { cwd, env, stdio: ["ignore", stdout, stderr, ...more] });
  return { pid: child.pid!, child, kill: (signal) => void child.kill(signal), ended: endOf(child) };
}

async function endOf(child: ChildProcess): Promise<Ended> {
  const read = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      read[name] += text;
    });
  }
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => {
      resolve({
        exitCode,
        signal,
        ...read,
        get json() {
          return oneLineOfJson(read);
        },
        get summary() {
          return oneLineOfJson(read) as WeeklySummary;
        },
      });
    });
  });
}

function oneLineOfJson({ stdout, stderr }: { stdout: string; stderr: string }): Record<string, unknown> {
  if (!/^\{[^\n]*\}\n$/.test(stdout)) {
    throw new Error(
      `Expected one line of JSON on standard output, got ${JSON.stringify(stdout)}; log: ${stderr}`,
    );
  }
  return JSON.parse(stdout);
}

let free = availableParallelism() + 1;
const queue: (() => void)[] = [];

/** Runs `opsctl` to its end; only a few processes, about one per processor, run at a time. */
export async function opsctl(args: string[], options: StartOptions = {}): Promise<Ended> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => queue.push(resolve));
  try {
    return await (await startOpsctl(args, options)).ended;
  } finally {
    const next = queue.shift();
    if (next) next();
    else free += 1;
  }
}

/** The lines of a log as objects; throws when a line is not JSON. */
export function logLines(stderr: string): Record<string, unknown>[] {
  return stderr
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}
