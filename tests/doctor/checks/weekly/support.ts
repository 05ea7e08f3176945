/** A last run, and what doctor finds on a host. */
import { parseLastRun } from "../../../../lib/last-run/last-run.ts";
import { ownProcessMark } from "../../../../lib/last-run/process-mark.ts";
import { MONDAY } from "../../../support/seed.ts";
import { UNTIL, WINDOW, weekOf } from "../../../weekly/announce/support.ts";
import type { Host } from "../../support/host.ts";

/** On the Monday of that run's week, and after it. */
export const DURING = Date.parse("2026-11-23T15:00:00Z");
export const AFTER = Date.parse("2026-11-25T15:00:00Z");

/** A run that failed. */
export const RUN = {
  status: "failed",
  runId: "r",
  begunAt: MONDAY,
  window: WINDOW,
  retryableUntil: UNTIL,
  error: { code: "APP_HTTP_401" },
  week: weekOf({ email: { failed: 1 } }),
  process: ownProcessMark(),
  announcement: null,
};

/** What is left of a run that was refused since the ledger went back, and what helps. */
export const WENT_BACK = { status: "not_ready", error: { code: "LEDGER_WENT_BACK" } };
export const EXPLAIN = "opsctl explain LEDGER_WENT_BACK";

/** The record of that run, but for these keys. */
export const found = (changes: object) => ({
  status: "found" as const,
  run: parseLastRun(JSON.stringify({ ...RUN, ...changes }))!,
});

/** What a check of `doctor weekly` finds on a host. */
export async function findingsOf(host: Host, check: string): Promise<string[]> {
  const findings = await host.examine("weekly");
  return findings.filter((one) => one.check === check).map(({ status, reason }) => `${status} ${reason}`);
}
