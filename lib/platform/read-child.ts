import type { ChildProcess } from "node:child_process";
import { killGroup } from "./kill-group.ts";

/**
 * How the reading of a child ended.
 *
 * Shape: `ended` when the child and its output ended by themselves, `exitCode` is null for a signal; `unstarted` with
 *        the system's code; `complete` when its reader had all that it waits for; `late` and `flooded` at a limit.
 */
export type ChildEnd =
  | { status: "ended"; exitCode: number | null; signal: NodeJS.Signals | null }
  | { status: "unstarted"; code: string }
  | { status: "complete" | "late" | "flooded" };

/** What a child has said, and how the reading of it ended. */
export type ReadChild = { end: ChildEnd; stdout: Buffer; stderr: Buffer };

/**
 * How long a child is read, and how much.
 *
 * Shape: `limitMs` counts from here, or where `beginMs` is given from the first output, which may take that long;
 *        `maxBytes` are those of one stream; `isComplete` gets each piece of the standard output.
 */
export type ReadingLimits = {
  limitMs: number;
  beginMs?: number;
  maxBytes: number;
  isComplete?: (piece: Buffer) => boolean;
};

const STREAMS = ["stdout", "stderr"] as const;

/**
 * Reads what a child says until it ends, or one of the limits is reached.
 *
 * Behaviour: the child has to lead a process group of its own (`detached`). Unless it ends by itself, it is killed with
 *            everything that it started, is not waited for, and nothing more is read: another process of its account
 *            can take over its output and write without end, or hold back its end.
 * Units:     milliseconds and bytes.
 * Errors:    none thrown.
 */
export async function readChild(child: ChildProcess, limits: ReadingLimits): Promise<ReadChild> {
  const { promise, resolve } = Promise.withResolvers<ChildEnd>();
  const stopTimer = startTimer(child, limits, () => resolve({ status: "late" }));
  const [stdout, stderr] = STREAMS.map((name) => collect(child, name, limits, resolve));
  child.on("error", ({ code = "unknown" }: NodeJS.ErrnoException) => resolve({ status: "unstarted", code }));
  child.once("close", (exitCode, signal) => resolve({ status: "ended", exitCode, signal }));
  const end = await promise;
  stopTimer();
  if (end.status !== "ended") {
    killGroup(child.pid);
    for (const name of STREAMS) child[name]?.destroy();
  }
  return { end, stdout: Buffer.concat(stdout ?? []), stderr: Buffer.concat(stderr ?? []) };
}

function startTimer(
  child: ChildProcess,
  { limitMs, beginMs }: ReadingLimits,
  onLate: () => void,
): () => void {
  let timer = setTimeout(onLate, beginMs ?? limitMs);
  if (beginMs !== undefined)
    child.stdout?.once("data", () => {
      clearTimeout(timer);
      timer = setTimeout(onLate, limitMs);
    });
  return () => clearTimeout(timer);
}

/** The pieces of a stream as they come; they stay within the limit. */
function collect(
  child: ChildProcess,
  name: (typeof STREAMS)[number],
  { maxBytes, isComplete }: ReadingLimits,
  onEnd: (end: ChildEnd) => void,
): Buffer[] {
  const pieces: Buffer[] = [];
  let bytes = 0;
  child[name]?.on("data", (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > maxBytes) {
      // At once: until the end is told, the engine goes on reading.
      child[name]?.destroy();
      return onEnd({ status: "flooded" });
    }
    pieces.push(piece);
    if (name === "stdout" && isComplete?.(piece)) onEnd({ status: "complete" });
  });
  return pieces;
}
