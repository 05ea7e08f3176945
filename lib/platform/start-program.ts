import { nativeSpawn } from "./runtime.ts";

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
