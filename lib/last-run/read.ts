import { join } from "node:path";
import { readRegularFile } from "../platform/files/regular-file.ts";
import { LAST_RUN_FILE, LAST_RUN_MAX_BYTES } from "./file-name.ts";
import { type LastRun, parseLastRun } from "./last-run.ts";

/** What is in the place of the last-run file; `code` is the file system's, or what is wrong with the file. */
export type LastRunReading =
  | { status: "found"; run: LastRun }
  | { status: "none" }
  | { status: "unreadable"; code: string };

/**
 * Reads the last-run file of a log directory.
 *
 * Behaviour: a link, a pipe, a directory and a file of more than 64 KiB are unreadable; nothing is waited for.
 */
export function readLastRun(logDir: string): LastRunReading {
  try {
    return readingOf(readLastRunText(join(logDir, LAST_RUN_FILE)));
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? { status: "none" } : { status: "unreadable", code: code ?? name };
  }
}

/**
 * The text of the last-run file at `path`.
 *
 * Errors: those of the file system; ELOOP for a link, ENOTFILE for what is no regular file, EFBIG for one too large.
 */
export function readLastRunText(path: string): string {
  return new TextDecoder().decode(readRegularFile(path, { maxBytes: LAST_RUN_MAX_BYTES }));
}

/** What the text of the file says. */
export function readingOf(text: string): LastRunReading {
  const run = parseLastRun(text);
  return run === null ? { status: "unreadable", code: "LAST_RUN_MALFORMED" } : { status: "found", run };
}
