/** `opsctl` as a process of its own: started, watched, killed by its id, and its one line of result read. */
import { spawn } from "node:child_process";
import type { WeeklySummary } from "../../lib/weekly/context/summary.ts";

/** How a process ended, with the summary of its `--json` line when it got that far. */
export type Ended = {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  durationMs: number;
  stdout: string;
  stderr: string;
  summary: WeeklySummary | null;
};

/** A running process; `log` is what it has written to its standard error so far. */
export type Worker = {
  pid: number;
  kill(signal: NodeJS.Signals): void;
  log(): string;
  ended: Promise<Ended>;
};

/** Starts a binary with these variables and nothing else of the caller's environment. */
export function startWorker(binary: string, args: string[], env: Record<string, string>): Worker {
  const startedMs = performance.now();
  const child = spawn(binary, args, {
    // No settings file of this machine.
    env: { OPSCTL_ENV_DIR: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const read = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      read[name] += text;
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode, signal) => {
      const durationMs = performance.now() - startedMs;
      resolve({ exitCode, signal, durationMs, ...read, summary: summaryIn(read.stdout) });
    });
  });
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return { pid: child.pid!, kill, log: () => read.stderr, ended };
}

function summaryIn(stdout: string): WeeklySummary | null {
  return stdout.endsWith("\n") ? JSON.parse(stdout) : null;
}
