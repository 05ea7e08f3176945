import { join } from "node:path";
import { HEARTBEAT_FILE } from "../last-run/file-name.ts";
import { writeFileAtomic } from "../platform/files/atomic-file.ts";
import type { WeeklySummary } from "./context/summary.ts";

/**
 * Step 15: replaces the success heartbeat; a reader sees the old file or the new one, never a part.
 *
 * Shape:  null when it is written, else the file system's code; the directory is not created.
 * Source: weekly report document, run flow 15. What counts is the modification time; the line is for people.
 */
export function writeHeartbeat(logDir: string, summary: WeeklySummary, finishedAt: string): string | null {
  const { runId, version, window, reports } = summary;
  const line = JSON.stringify({ runId, version, week: window?.week, finishedAt, reports });
  try {
    writeFileAtomic(join(logDir, HEARTBEAT_FILE), `${line}\n`, { mode: 0o644 });
    return null;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}
