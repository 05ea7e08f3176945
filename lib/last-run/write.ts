import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../platform/files/atomic-file.ts";
import { LAST_RUN_FILE, LAST_RUN_MAX_BYTES } from "./file-name.ts";
import type { LastRun } from "./last-run.ts";

/** Readable for the monitoring agent and its kin; it holds ids and codes alone. */
const MODE = 0o644;

/**
 * Replaces the last-run file; a reader sees the old one or the whole new one.
 *
 * Shape:     null when it is written, else the file system's code; the directory is not created.
 * Behaviour: names fewer failures where the text would be larger than readers take.
 */
export function writeLastRun(logDir: string, run: LastRun): string | null {
  return problemOf(() => writeFileAtomic(join(logDir, LAST_RUN_FILE), lastRunText(run), { mode: MODE }));
}

/** Removes the last-run file; the same result as that of writing it. */
export function removeLastRun(logDir: string): string | null {
  return problemOf(() => rmSync(join(logDir, LAST_RUN_FILE), { force: true }));
}

function problemOf(change: () => void): string | null {
  try {
    change();
    return null;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}

/** The text of the file: one line of JSON of at most 64 KiB. */
function lastRunText(run: LastRun): string {
  const text = `${JSON.stringify(run)}\n`;
  const failures: unknown[] = Array.isArray(run.failures) ? run.failures : [];
  if (new TextEncoder().encode(text).length <= LAST_RUN_MAX_BYTES || failures.length === 0) return text;
  const fewer = failures.slice(0, Math.floor(failures.length / 2));
  return lastRunText({ ...run, failures: fewer, failuresTruncated: true });
}
