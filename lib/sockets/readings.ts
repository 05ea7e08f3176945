import { closeSync, constants, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { OpsError } from "../platform/errors.ts";

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Name of the monitor's log inside the log directory. */
export const SOCKET_LOG_FILE = "socket_monitor.log";

/** There is a run every five minutes: three missing ones are no coincidence. */
export const STALE_READINGS_MS = 15 * 60_000;

/** What a run read, and the threshold of its alert; a value that could not be read is null. */
export type SocketReadings = {
  time: string;
  threshold: number;
  total: number | null;
  closeWait: number | null;
  load1: number | null;
  load5: number | null;
  load15: number | null;
  proxyMemoryBytes: number | null;
};

/** The time of the monitor's last line, in milliseconds since 1970, its total and its threshold; null: not known. */
export type LastReadings = { timeMs: number; total: number | null; threshold: number | null };

/**
 * Appends one line of JSON to the monitor's log, in one write, so that the lines of two runs never mix.
 *
 * Behaviour: does not create the directory, follows no link and waits for no reader of a pipe.
 * Errors:    LOG_UNWRITABLE.
 */
export async function appendReadings(logDir: string, readings: SocketReadings): Promise<void> {
  const path = join(logDir, SOCKET_LOG_FILE);
  let file: number | null = null;
  try {
    file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o644);
    writeSync(file, `${JSON.stringify(readings)}\n`);
  } catch (error) {
    const { code = "the file system failed" } = error as NodeJS.ErrnoException;
    throw new OpsError({
      code: "LOG_UNWRITABLE",
      message: `Cannot append to ${path}: ${code}`,
      hint: `Create ${logDir} for the account that runs the socket monitor, or set OPSCTL_LOG_DIR`,
      cause: error,
    });
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** The last line in the end of the monitor's log; null when it cannot be read. */
export function lastReadings(text: string): LastReadings | null {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  try {
    const { time, total, threshold } = Object(JSON.parse(line)) as Record<string, unknown>;
    const timeMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
    const number = (value: unknown) => (typeof value === "number" ? value : null);
    return Number.isNaN(timeMs) ? null : { timeMs, total: number(total), threshold: number(threshold) };
  } catch {
    return null;
  }
}
