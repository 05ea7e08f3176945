/** A weekly run whose waits pass quickly, as a process that can be killed like the real one. */
import { join } from "node:path";
import type { WiredFlags } from "./wired-run.ts";
import { startWorker, type Worker } from "./worker.ts";

/** How much faster than real time a wait of a hurried run passes; calls and statements take as long as they take. */
export const HURRY = 100;

/** How long a hurried run waits for one analysis, in real time. */
export const ANALYSIS_TIMEOUT_MS = 3_000;

const PROGRAM = join(import.meta.dirname, "hurried-run.ts");

/** Starts a hurried run with these variables. */
export function startHurriedWorker(flags: WiredFlags, env: Record<string, string>): Worker {
  return startWorker(process.execPath, [PROGRAM, JSON.stringify(flags)], env);
}
