import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { judgeOwnFile, refuseForeignDirectory } from "../platform/files/own-file.ts";

/** Name of the monitor's log inside the log directory. */
export const SOCKET_LOG_FILE = "socket_monitor.log";

/** What a run saw, and above which total it alerts; a value that could not be read is null. */
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

const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
const MODE = 0o644;

/**
 * Appends one line of JSON to the monitor's log.
 *
 * Behaviour: one write to a file opened for appending, so that the lines of two runs never mix. Does not create the
 *            directory. The file is opened once, without following a link or waiting for a reader, and judged by its
 *            descriptor.
 * Errors:    LOG_UNWRITABLE.
 */
export async function appendReadings(logDir: string, readings: SocketReadings): Promise<void> {
  const path = join(logDir, SOCKET_LOG_FILE);
  try {
    appendOnce(logDir, path, `${JSON.stringify(readings)}\n`);
  } catch (error) {
    const reason = error instanceof OpsError ? error.message : (error as NodeJS.ErrnoException).code;
    throw new OpsError({
      code: "LOG_UNWRITABLE",
      message: `Cannot append to ${path}: ${reason ?? "the file system failed"}`,
      hint: `Create ${logDir} for the account that runs the socket monitor, or set OPSCTL_LOG_DIR`,
      cause: error,
    });
  }
}

function appendOnce(logDir: string, path: string, line: string): void {
  refuseForeignDirectory(logDir);
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, MODE);
  try {
    judgeOwnFile(path, fstatSync(file), { isShared: true });
    writeSync(file, line);
  } finally {
    closeSync(file);
  }
}
