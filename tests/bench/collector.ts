/** One pass of the collector as a whole process, against two shell scripts that do the same. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findTextDirectory } from "../../lib/host/text-directory.ts";
import { lockPathOf } from "../../lib/metrics/write.ts";
import { OPSCTL, peakOfTree, ROOT, startScript, timeOf } from "./child.ts";
import { type Figure, median } from "./figure.ts";

const RUNS = 15;
const MIB = 1_048_576;
const SLOW_MS = 50;
/** Both ends of a connection are descriptors of one process, of which there is a limit. */
const SOCKETS_PER_HOLDER = 12_500;

type Pass = { wallMs: number; cpuMs: number; peakBytes: number };
type Names = "opsctl" | "tuned" | "naive";
type Passes = Record<Names, Pass>;

/** At 100, 10,000 and 50,000 open sockets, and with slow peers. */
export async function collectorFigures(): Promise<Figure[]> {
  const figures: Figure[] = [];
  const memory: number[] = [];
  for (const [sockets, goal] of [
    [100, undefined],
    [10_000, 0.5],
    [50_000, 0.7],
  ] as const) {
    const passes = await measured(sockets, 0);
    memory.push(passes.opsctl.peakBytes);
    figures.push(...figuresOf(`${sockets.toLocaleString("en")} sockets`, passes, goal));
  }
  const growth = memory[2]! / memory[0]!;
  figures.push({
    measure: "memory at 50,000 sockets against 100",
    value: mib(memory[2]!),
    baseline: mib(memory[0]!),
    ratio: growth,
    goal: { atMost: 1.1 },
  });
  return [...figures, await slowPeers(), await monitorFigure()];
}

/** One pass of the socket monitor at 100 sockets. */
async function monitorFigure(): Promise<Figure> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  const holders = await holdSockets(100);
  const env = {
    PATH: process.env.PATH!,
    OPSCTL_LOG_DIR: folder,
    OPSCTL_SECRETS_DIR: folder,
    OPSCTL_ENV_DIR: "",
    MESSAGING_API_URL: "http://127.0.0.1:9",
    MESSAGING_API_KEY: "bench-gateway",
    MESSAGING_PHONE: "5511912345678",
  };
  const tookMs: Record<"opsctl" | "script", number[]> = { opsctl: [], script: [] };
  for (let i = 0; i < RUNS; i += 1) {
    tookMs.opsctl.push(timeOf([OPSCTL, "socket-monitor", "--threshold", "1000000"], env));
    tookMs.script.push(timeOf([join(ROOT, "tests/bench/monitor.sh")], env));
  }
  await Promise.all(holders.map((script) => script.stop()));
  rmSync(folder, { recursive: true, force: true });
  return {
    measure: "socket monitor, 100 sockets: wall, against a script",
    value: ms(median(tookMs.opsctl)),
    baseline: ms(median(tookMs.script)),
    ratio: median(tookMs.opsctl) / median(tookMs.script),
    goal: { atMost: 0.8 },
  };
}

function figuresOf(what: string, { opsctl, tuned, naive }: Passes, goal: number | undefined): Figure[] {
  const wall = (baseline: Pass) => ({
    baseline: ms(baseline.wallMs),
    ratio: opsctl.wallMs / baseline.wallMs,
  });
  const value = ms(opsctl.wallMs);
  const tunedFigure = { measure: `${what}: wall, against the tuned script`, value, ...wall(tuned) };
  return [
    goal === undefined ? tunedFigure : { ...tunedFigure, goal: { atMost: goal } },
    { measure: "  against the naive script", value, ...wall(naive) },
    {
      measure: "  processor time, against the tuned script",
      value: ms(opsctl.cpuMs),
      baseline: ms(tuned.cpuMs),
      ratio: opsctl.cpuMs / tuned.cpuMs,
    },
    {
      measure: "  peak memory, against the tuned script",
      value: mib(opsctl.peakBytes),
      baseline: mib(tuned.peakBytes),
      ratio: opsctl.peakBytes / tuned.peakBytes,
    },
  ];
}

async function slowPeers(): Promise<Figure> {
  const { opsctl } = await measured(100, SLOW_MS);
  const callMs = await singleCall();
  return {
    measure: `peers at ${SLOW_MS} ms a call: wall, against one call alone`,
    value: ms(opsctl.wallMs),
    baseline: ms(callMs),
    ratio: opsctl.wallMs / callMs,
    goal: { atMost: 1.5 },
  };
}

/** What one call of the slow provider takes by itself, connection included. */
async function singleCall(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  const peers = await startScript("host-peers.ts", [join(folder, "engine.sock"), String(SLOW_MS)]);
  const tookMs: number[] = [];
  for (let i = 0; i < RUNS; i += 1) {
    const startedMs = performance.now();
    const response = await fetch(`${peers.answer}/v9/projects?limit=100`, { keepalive: false });
    await response.arrayBuffer();
    tookMs.push(performance.now() - startedMs);
  }
  await peers.stop();
  rmSync(folder, { recursive: true, force: true });
  return median(tookMs);
}

async function measured(sockets: number, latencyMs: number): Promise<Passes> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-bench-"));
  const engine = join(folder, "engine.sock");
  const peers = await startScript("host-peers.ts", [engine, String(latencyMs)]);
  const holders = await holdSockets(sockets);
  const env = {
    PATH: process.env.PATH!,
    TEXTFILE_DIR: folder,
    OPSCTL_LOG_DIR: folder,
    OPSCTL_SECRETS_DIR: folder,
    DOCKER_HOST: `unix://${engine}`,
    ENGINE: engine,
    HOSTING_API_URL: peers.answer,
    HOSTING_TOKEN: "bench-hosting",
  };
  const commands: Record<Names, string[]> = {
    opsctl: [OPSCTL, "collect-metrics"],
    tuned: [join(ROOT, "tests/bench/collect-tuned.sh")],
    naive: [join(ROOT, "tests/bench/collect-naive.sh")],
  };
  const passes: Record<Names, Pass[]> = { opsctl: [], tuned: [], naive: [] };
  try {
    for (let i = 0; i < RUNS; i += 1)
      for (const name of Object.keys(commands) as Names[])
        passes[name].push(await onePass(commands[name], env));
  } finally {
    await Promise.all([peers, ...holders].map((script) => script.stop()));
    rmSync(lockPathOf(findTextDirectory(folder)), { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
  return { opsctl: middle(passes.opsctl), tuned: middle(passes.tuned), naive: middle(passes.naive) };
}

function holdSockets(count: number) {
  const holders = Math.ceil(count / SOCKETS_PER_HOLDER);
  return Promise.all(
    Array.from({ length: holders }, (_, i) =>
      startScript("hold-sockets.ts", [String(Math.round(count / holders)), `127.0.1.${i + 1}`]),
    ),
  );
}

async function onePass(command: string[], env: Record<string, string>): Promise<Pass> {
  const startedMs = performance.now();
  const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const exitCode = await child.exited;
  const wallMs = performance.now() - startedMs;
  if (exitCode !== 0)
    throw new Error(`${command[0]} ended with ${exitCode}: ${await new Response(child.stderr).text()}`);
  const cpuMs = Number(child.resourceUsage()!.cpuTime.total) / 1000;
  // Watched in a run of its own, because watching takes a processor.
  const peakBytes = await peakOfTree(
    Bun.spawn(command, { env, stdin: "ignore", stdout: "ignore", stderr: "ignore" }),
  );
  return { wallMs, cpuMs, peakBytes };
}

function middle(passes: Pass[]): Pass {
  const of = (key: keyof Pass) => median(passes.map((pass) => pass[key]));
  return { wallMs: of("wallMs"), cpuMs: of("cpuMs"), peakBytes: of("peakBytes") };
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
