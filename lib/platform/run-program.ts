import process from "node:process";
import { nativeSpawn } from "./runtime.ts";

/**
 * How a program ended.
 *
 * Shape: `ended` by itself, `exitCode` is null for a signal; `unstarted` with the system's code; `late` and `flooded`
 *        when it was killed at a limit.
 */
export type ProgramEnd =
  | { status: "ended"; exitCode: number | null; signal: NodeJS.Signals | null }
  | { status: "unstarted"; code: string }
  | { status: "late" | "flooded" };

/**
 * Runs a program, without a shell, and returns how it ended and what it wrote to standard output.
 *
 * Behaviour: it has nothing to read, no terminal and a process group of its own. At a limit the whole group is killed
 *            and not waited for, and nothing more is read of it.
 * Units:     milliseconds and bytes.
 * Errors:    none thrown.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  {
    env,
    signal,
    maxBytes = 1_048_576,
  }: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal; maxBytes?: number },
): Promise<{ end: ProgramEnd; stdout: Buffer }> {
  const { spawn } = await import("node:child_process");
  const pieces: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<ProgramEnd>();
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"], detached: true });
  const onLate = () => resolve({ status: "late" });
  signal.addEventListener("abort", onLate, { once: true });
  if (signal.aborted) onLate();
  let bytes = 0;
  child.stdout.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else resolve({ status: "flooded" });
  });
  child.on("error", ({ code = "unknown" }: NodeJS.ErrnoException) => resolve({ status: "unstarted", code }));
  child.once("close", (exitCode, signal) => resolve({ status: "ended", exitCode, signal }));
  const end = await promise;
  signal.removeEventListener("abort", onLate);
  if (end.status !== "ended") {
    killGroup(child.pid);
    child.stdout.destroy();
  }
  return { end, stdout: Buffer.concat(pieces) };
}

/** Kills a program that leads a process group, and what it started; `pid` is undefined if it never ran. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The whole group has ended.
  }
}

/**
 * A running program, which has nothing to read.
 *
 * Shape: `output` is its standard output as it arrives, to be read once; `ended` is its exit status, null when a signal
 *        ended it. Both end soon after `kill`.
 */
export type RunningProgram = {
  output: AsyncIterable<Uint8Array>;
  ended: Promise<number | null>;
  kill(): void;
};

/**
 * Starts a program, without a shell, in the directory `cwd` or in this process's; its standard error is dropped.
 *
 * Errors: throws with the code of the system, ENOENT when there is no such program.
 * Source: measured: Bun's own start takes 0.3 ms, its node:child_process 5 ms, too much for a run of every minute.
 */
export async function startProgram(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd?: string,
): Promise<RunningProgram> {
  const spawn = nativeSpawn();
  const where = cwd === undefined ? {} : { cwd };
  if (spawn === null) return await startByNode(program, args, { env, ...where });
  const child = spawn([program, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    env,
    ...where,
  });
  return {
    output: child.stdout,
    ended: child.exited.then(() => child.exitCode),
    kill: () => child.kill("SIGKILL"),
  };
}

async function startByNode(
  program: string,
  args: readonly string[],
  options: { env: Record<string, string>; cwd?: string },
): Promise<RunningProgram> {
  const { spawn } = await import("node:child_process");
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], ...options });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (status) => resolve(status)));
  return {
    output: child.stdout,
    ended,
    kill() {
      child.kill("SIGKILL");
      child.stdout.destroy();
    },
  };
}
