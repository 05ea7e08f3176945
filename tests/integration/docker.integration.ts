/**
 * The proxy's memory as opsctl reads it, against `docker stats` of a real engine: Debian trixie's Docker 26.1.5, one of
 * those whose samples carry no name. Alone: `bun tests/integration/docker.integration.ts`, as root.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { until } from "../support/until.ts";
import { type RealEngine, startRealEngine } from "./docker/real-engine.ts";
import { notTried } from "./program.ts";

const OPSCTL = join(import.meta.dirname, "../../dist/opsctl");
/** A container keeps the pages of a file that it has written in memory, which `docker stats` takes off. */
const WRITE_A_FILE = "/bin/busybox dd if=/dev/zero of=/file bs=1M count=24 && /bin/busybox sync";
const SLEEP = "exec /bin/busybox sleep 600";
const FILE_BYTES = 24 * 1_048_576;
const ATTEMPTS = 5;
const UNITS = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };

assert.ok(existsSync(OPSCTL), "dist/opsctl is missing: make build");
const starting = startRealEngine();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, async () => {
    const engine = await starting;
    if (!("missing" in engine)) await engine[Symbol.asyncDispose]();
    process.exit(1);
  });
const engine = await starting;
if ("missing" in engine) notTried(engine.missing);
try {
  await compare(engine);
} finally {
  await engine[Symbol.asyncDispose]();
}

async function compare(engine: RealEngine): Promise<void> {
  const { docker } = engine;
  console.log(docker("version", "--format", "Docker {{.Server.Version}}, API {{.Server.APIVersion}}"));
  const id = start(engine, "traefik", `${WRITE_A_FILE}; ${SLEEP}`);
  start(engine, "traefik-dev", SLEEP);
  start(engine, "decade", SLEEP);
  await until(
    "the file to be in memory",
    async () => (await sampleOf(engine, "traefik")).inactive >= FILE_BYTES,
  );

  const { keys, usage, inactive } = await sampleOf(engine, "traefik");
  const says = keys.includes("name") || keys.includes("id") ? "says whose it is" : "has no id and no name";
  console.log(`a sample ${says}; usage ${usage}, ${inactive} of it inactive_file`);
  for (const name of ["traefik", "traefik-dev", "decade"]) sameAsShown(engine, name);
  docker("pause", "traefik");
  sameAsShown(engine, "traefik", "paused");
  docker("unpause", "traefik");

  // The beginning of an id is no name, although the engine accepts it as one.
  assert.ok(docker("stats", "--no-stream", "--format", "{{.MemUsage}}", id.slice(0, 12)).length > 0);
  notRead(engine, id.slice(0, 12), "docker_container_missing");
  notRead(engine, id, "docker_container_missing");
  notRead(engine, "traefi", "docker_container_missing");

  docker("stop", "--time=0", "traefik");
  notRead(engine, "traefik", "docker_container_not_running", "stopped");
  docker("rm", "traefik");
  notRead(engine, "traefik", "docker_container_missing", "removed");
  start(engine, "traefik", "exit 1", "--restart=always");
  // The pause before the next start doubles: the sixth is seconds long.
  await until("a long pause between two starts", () => stateOf(engine, "traefik") === "restarting 5");
  notRead(engine, "traefik", "docker_container_not_running", "restarting");
  docker("rm", "--force", "traefik");
  start(engine, "traefik", SLEEP);
  sameAsShown(engine, "traefik", "a new one of the same name");
}

/** Starts a container and returns its id. */
function start({ docker }: RealEngine, name: string, script: string, ...options: string[]): string {
  const open = ["--network=none", "--security-opt=apparmor=unconfined", ...options];
  return docker("run", "--detach", "--name", name, ...open, "tiny", "/bin/busybox", "sh", "-c", script);
}

function stateOf({ docker }: RealEngine, name: string): string {
  return docker("inspect", "--format", "{{.State.Status}} {{.RestartCount}}", name);
}

async function sampleOf({ socket }: RealEngine, name: string) {
  const url = `http://localhost/containers/${name}/stats?stream=false&one-shot=true`;
  const sample = (await (await fetch(url, { unix: socket })).json()) as {
    memory_stats: { usage: number; stats: Record<string, number> };
  };
  const { usage, stats } = sample.memory_stats;
  return {
    keys: Object.keys(sample),
    usage,
    inactive: stats.total_inactive_file ?? stats.inactive_file ?? 0,
  };
}

/** The collector's value is what the engine's own client shows, to the client's own precision, and doctor agrees. */
function sameAsShown(engine: RealEngine, name: string, state = "running"): void {
  let seen = "";
  for (let i = 0; i < ATTEMPTS; i += 1) {
    const { bytes } = collected(engine, name);
    const shown = engine.docker("stats", "--no-stream", "--format", "{{.MemUsage}}", name).split(" / ")[0]!;
    seen = `${name}, ${state}: opsctl ${bytes}, docker stats ${shown}`;
    if (bytes !== null && isShownAs(bytes, shown)) {
      console.log(seen);
      assert.deepEqual(doctorOn(engine, name), { status: "pass", code: null });
      return;
    }
  }
  assert.fail(seen);
}

/** `docker stats` shows four digits, cut off or rounded. */
function isShownAs(bytes: number, shown: string): boolean {
  const [, number, unit] = /^([\d.]+)([KMG]?i?B)$/.exec(shown) ?? [];
  const size = UNITS[unit as keyof typeof UNITS];
  const step = 10 ** -(number?.split(".")[1]?.length ?? 0);
  return number !== undefined && Number(number) > 0 && Math.abs(bytes / size - Number(number)) <= step;
}

function notRead(engine: RealEngine, name: string, code: string, state = "no such name"): void {
  const found = collected(engine, name);
  console.log(`${name.slice(0, 12)}, ${state}: opsctl ${found.bytes ?? "no sample"}, ${found.code}`);
  assert.deepEqual(found, { bytes: null, code });
  assert.deepEqual(doctorOn(engine, name), { status: "fail", code });
}

/** What one pass of the collector says of the container. */
function collected(engine: RealEngine, name: string): { bytes: number | null; code: string | null } {
  const { sources, metrics } = opsctl(engine, name, "collect-metrics", "--stdout");
  const bytes = /^proxy_memory_bytes (\d+)$/m.exec(metrics)?.[1];
  const { error } = sources.find(({ source }: { source: string }) => source === "proxy_memory");
  return { bytes: bytes === undefined ? null : Number(bytes), code: error?.code ?? null };
}

function doctorOn(engine: RealEngine, name: string): { status: string; code: string | null } {
  const { findings } = opsctl(engine, name, "doctor", "collect-metrics");
  const { status, code } = findings.find(({ check }: { check: string }) => check === "container");
  return { status, code };
}

function opsctl({ socket }: RealEngine, container: string, ...words: string[]) {
  const env = { PATH: process.env.PATH, DOCKER_HOST: `unix://${socket}`, PROXY_CONTAINER: container };
  const { stdout, stderr } = spawnSync(OPSCTL, [...words, "--json"], { env, encoding: "utf8" });
  assert.ok(stdout.startsWith("{"), stderr);
  return JSON.parse(stdout);
}
