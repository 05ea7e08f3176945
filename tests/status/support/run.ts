/** Last-run files for the tests of status. */
import { type LastRun, parseLastRun } from "../../../lib/last-run/last-run.ts";
import { ownProcessMark } from "../../../lib/last-run/process-mark.ts";
import { WEEK } from "../../support/seed.ts";
import { UNTIL, weekOf } from "../../weekly/announce/support.ts";

/** A run of that week that succeeded, but for these keys. */
export function lastRun(changes: object = {}): { status: "found"; run: LastRun } {
  const run = {
    status: "success",
    runId: "r",
    begunAt: "2026-11-23T11:00:00Z",
    finishedAt: "2026-11-23T11:20:00Z",
    window: WEEK,
    retryableUntil: UNTIL,
    error: null,
    week: weekOf(),
    process: ownProcessMark(),
    announcement: null,
    ...changes,
  };
  return { status: "found", run: parseLastRun(JSON.stringify(run))! };
}
