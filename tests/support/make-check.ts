/** `make check` as a process beside the tests, which leave the cores idle now and then. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";

const ROOT = join(import.meta.dirname, "../..");

/** `make check` that runs: `failure` is what it said when it failed, null when all is well. */
export type RunningCheck = { failure: Promise<string | null>; stop(): void };

/** Starts it, or another target of the Makefile in a folder. */
export function startCheck(target = "check", folder = ROOT): RunningCheck {
  // A make that runs the tests must not hand its own flags and job slots to this one.
  const { MAKEFLAGS: _flags, MFLAGS: _old, MAKELEVEL: _level, ...env } = process.env;
  const child = spawn("make", ["--no-print-directory", target], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  const failure = new Promise<string | null>((resolve) => {
    child.once("error", (error) => resolve(`Cannot start make: ${error.message}`));
    child.once("close", (status) => resolve(status === 0 ? null : said || `make ended with ${status}`));
  });
  return { failure, stop: () => void child.kill("SIGTERM") };
}
