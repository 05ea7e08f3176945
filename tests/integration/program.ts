/** What the integration tests have in common: how they end. */
import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";

/** The exit status of an integration test that could not be tried here. */
const NOT_TRIED = 77;

/** Ends an integration test that could not be tried here, with the reason. */
export function notTried(reason: string): never {
  console.log(reason);
  process.exit(NOT_TRIED);
}

/** Runs the program that is the test, asks it to clear up when this process is interrupted, and ends as it ends. */
export async function endAs(program: string, words: string[], options: SpawnOptions): Promise<never> {
  const child = spawn(program, words, { stdio: "inherit", ...options });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill("SIGTERM"));
  const [status] = (await once(child, "close")) as [number | null];
  process.exit(status ?? 1);
}
