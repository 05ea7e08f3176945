import process from "node:process";

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
 * Starts a program, without a shell; its standard error is dropped.
 *
 * Behaviour: it has no terminal: through a program in root's, which the account may control, it could type there.
 * Errors: throws with the code of the system, ENOENT when there is no such program.
 */
export async function startProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RunningProgram> {
  const [{ spawn }, { once }] = await Promise.all([import("node:child_process"), import("node:events")]);
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "ignore"], detached: true, env });
  const ended = once(child, "exit").then(([status]) => status as number | null);
  ended.catch(() => {});
  await once(child, "spawn");
  return {
    output: child.stdout,
    ended,
    kill() {
      child.kill("SIGKILL");
      child.stdout.destroy();
    },
  };
}
