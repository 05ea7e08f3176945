/** Processes that the benchmark starts, and what they cost. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The folder of the sources. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** The compiled binary that is measured. */
export const OPSCTL = join(ROOT, "dist/opsctl");

/**
 * A finished process.
 *
 * Shape: `peakBytes` is its largest resident memory, as seen until shortly before its end; `cpuMs` what it used of the
 *        processors, user and system.
 */
export type Cost = {
  exitCode: number;
  durationMs: number;
  stdout: string;
  stderr: string;
  peakBytes: number;
  cpuMs: number;
};

/** Runs a program to its end, which the signal may ask for, and watches its memory now and then. */
export async function run(
  command: string[],
  env: Record<string, string>,
  signal?: AbortSignal,
): Promise<Cost> {
  const startedMs = performance.now();
  const stop = signal === undefined ? {} : { signal, killSignal: "SIGTERM" as const };
  const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe", ...stop });
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOf(child.pid) ?? 0);
  }, 20);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const exitCode = await child.exited;
  clearInterval(watch);
  const cpuMs = Number(child.resourceUsage()!.cpuTime.total) / 1000;
  return { exitCode, durationMs: performance.now() - startedMs, stdout, stderr, peakBytes, cpuMs };
}

/** How long a program takes from its start to its end. */
export function timeOf(command: string[], env: Record<string, string>): number {
  const startedMs = performance.now();
  Bun.spawnSync(command, { env, stdin: "ignore", stdout: "ignore", stderr: "ignore" });
  return performance.now() - startedMs;
}

/**
 * The largest resident memory of a process so far; null once it has ended.
 *
 * Shape: read from /proc, because what the system reports of a finished child (`ru_maxrss`) begins with the memory of
 *        the process that started it.
 */
function peakOf(pid: number): number | null {
  try {
    const kib = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}

/** The largest resident memory of a process that runs; NaN once it has ended. */
export function peakBytes(pid: number): number {
  return peakOf(pid) ?? Number.NaN;
}

/** The peak of the resident memory of a process and all that it starts, looked at without a pause until it is gone. */
export async function peakOfTree(child: { pid: number; exited: Promise<number> }): Promise<number> {
  let isOver = false;
  const over = child.exited.then(() => {
    isOver = true;
  });
  let peakBytes = 0;
  while (!isOver) {
    peakBytes = Math.max(peakBytes, memoryOfTree(child.pid));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await over;
  return peakBytes;
}

function memoryOfTree(pid: number): number {
  const own = memoryOf(pid);
  if (own === null) return 0;
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.filter(Boolean).reduce((sum, child) => sum + memoryOfTree(Number(child)), own);
  } catch {
    return own;
  }
}

/** The resident memory of a process now; null once it has ended. */
export function memoryOf(pid: number): number | null {
  try {
    const kib = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}

/**
 * The processor time of a process, of those that it has started, and of those of them that have ended.
 *
 * Units: milliseconds, counted in hundredths of a second.
 */
export function processorMsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // After the name, which stands in brackets and may hold anything: the 14th to the 17th field, in ticks.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ownMs = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    return children.filter(Boolean).reduce((sum, child) => sum + processorMsOf(Number(child)), ownMs);
  } catch {
    // Ended since it was listed: its parent has its time.
    return 0;
  }
}

/** A script of this folder as a helper process; its first line of output is its answer. */
export async function startScript(
  name: string,
  args: string[],
): Promise<{ answer: string; pid: number; stop(): Promise<void> }> {
  const child = Bun.spawn([process.execPath, join(ROOT, "tests/bench", name), ...args], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  return {
    answer: new TextDecoder().decode(value).trim(),
    pid: child.pid,
    async stop() {
      child.stdin.end();
      await child.exited;
    },
  };
}
