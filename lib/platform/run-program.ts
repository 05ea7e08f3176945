import process from "node:process";

/** How a program ended; `late` and `flooded` when it was killed at its limit of time or output. */
export type ProgramEnd =
  | { status: "ended"; exitCode: number | null; signal: NodeJS.Signals | null }
  | { status: "unstarted"; code: string }
  | { status: "late" }
  | { status: "flooded" };

/**
 * Runs a program, without a shell, and returns how it ended and what it wrote to standard output.
 *
 * Behaviour: it has nothing to read, no terminal and a process group of its own. At a limit the whole group is killed
 *            and not waited for, and nothing more is read of it.
 * Units:     bytes.
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
  const start = () => spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"], detached: true });
  let child: ReturnType<typeof start>;
  try {
    child = start();
  } catch (error) {
    // It quotes a value with a null byte, which may be a secret.
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    return { end: { status: "unstarted", code }, stdout: Buffer.alloc(0) };
  }
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
