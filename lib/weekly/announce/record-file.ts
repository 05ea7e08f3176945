import type { LastRun } from "../../last-run/last-run.ts";
import { readLastRun } from "../../last-run/read.ts";
import { removeLastRun, writeLastRun } from "../../last-run/write.ts";
import type { Log } from "../../platform/log/log.ts";

/** The last-run file of this host, as a run uses it; `write` of null leaves none. */
export type RecordFile = { read(): LastRun | null; write(run: LastRun | null): void };

/**
 * The last-run file in `logDir`; nothing is read or written where that is null.
 *
 * Behaviour: what cannot be read or written is logged, each once, and changes nothing for the run.
 */
export function recordFile(logDir: string | null, log: Log): RecordFile {
  const told = new Set<string>();
  const tell = (code: string, message: string, cause: string) => {
    if (told.has(code)) return;
    told.add(code);
    const hint = "OPSCTL_LOG_DIR has to be a directory of this account, and the file one of its own";
    log.error(message, { code, cause, logDir, hint });
  };
  return {
    read() {
      if (logDir === null) return null;
      const reading = readLastRun(logDir);
      if (reading.status === "unreadable")
        tell("LAST_RUN_UNREADABLE", "What the last run left cannot be read", reading.code);
      return reading.status === "found" ? reading.run : null;
    },
    write(run) {
      if (logDir === null) return;
      const problem = run === null ? removeLastRun(logDir) : writeLastRun(logDir, run);
      if (problem !== null) tell("LAST_RUN_UNWRITABLE", "The record of this run cannot be written", problem);
    },
  };
}
