import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { OpsError } from "../platform/errors.ts";

/** Name of the monitor's log inside the log directory. */
export const SOCKET_LOG_FILE = "socket_monitor.log";

/** What a run saw; a value that could not be read is null. */
export type SocketReadings = {
  time: string;
  total: number | null;
  closeWait: number | null;
  load1: number | null;
  load5: number | null;
  load15: number | null;
  proxyMemoryBytes: number | null;
};

/**
 * Appends one line of JSON to the monitor's log.
 *
 * Shape:  one write to a file that is opened for appending, so that the lines of two runs never mix. The directory is
 *         not created.
 * Errors: LOG_UNWRITABLE.
 */
export async function appendReadings(logDir: string, readings: SocketReadings): Promise<void> {
  const path = join(logDir, SOCKET_LOG_FILE);
  try {
    await appendFile(path, `${JSON.stringify(readings)}\n`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OpsError({
      code: "LOG_UNWRITABLE",
      message: `Cannot append to ${path}: ${code ?? "the file system failed"}`,
      hint: `Create ${logDir} for the account that runs the socket monitor, or set OPSCTL_LOG_DIR`,
      cause: error,
    });
  }
}
