/** Summaries of runs that ended in different ways, for the tests of their record and announcement. */
import type { WeekDeliveries, WeekState } from "../../../lib/ledger/week-state.ts";
import { emptySummary, type Failure, type WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { WEEK } from "../../support/seed.ts";

/** When the run ended. */
export const FINISHED_AT = "2026-11-23T11:20:00Z";
/** Until when the run can be repeated. */
export const UNTIL = "2026-11-24T03:00:00Z";

/** What a run that could begin knows of itself. */
export const START = {
  version: "0.0.0-test",
  runId: "7d1c1d0e-0000-4000-8000-000000000001",
  startedAt: "2026-11-23T11:00:00.5Z",
  window: WEEK,
  retryableUntil: UNTIL,
};

const NONE: WeekDeliveries = { sent: 0, partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 };

/** A week of ten owners in which everything was sent, but for these counts. */
export function weekOf(
  changes: {
    owners?: number;
    before?: WeekState["before"];
    reports?: Partial<WeekState["reports"]>;
    whatsapp?: Partial<WeekDeliveries>;
    email?: Partial<WeekDeliveries>;
  } = {},
): WeekState {
  return {
    owners: changes.owners ?? 10,
    reports: { completed: 10, running: 0, failed: 0, missing: 0, ...changes.reports },
    whatsapp: { ...NONE, sent: 10, ...changes.whatsapp },
    email: { ...NONE, sent: 10, ...changes.email },
    social: { connected: 0, failed: 0, owners: 0 },
    noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
    before: changes.before ?? null,
  };
}

/** The summary of a run that succeeded, but for these keys. */
export function summaryOf(changes: Partial<WeeklySummary> = {}): WeeklySummary {
  const summary = emptySummary({ version: START.version, runId: START.runId, dryRun: false });
  return {
    ...summary,
    ...START,
    finishedAt: FINISHED_AT,
    status: "success",
    exitCode: 0,
    reports: { ...summary.reports, scopes: 10, completed: 10 },
    week: weekOf(),
    ...changes,
  };
}

/** The summary of a run that failed with these failures. */
export function failedWith(failures: Failure[], changes: Partial<WeeklySummary> = {}): WeeklySummary {
  return summaryOf({ status: "failed", exitCode: 1, failures, ...changes });
}

/** The summary of a run that was refused as not ready, as the command makes it when the database does not answer. */
export function notReady(code: string): WeeklySummary {
  const summary = emptySummary({ version: START.version, runId: START.runId, dryRun: false });
  const message = "Cannot reach the database at db.example.com: no answer";
  return { ...summary, error: { code, message, hint: "Look at DATABASE_URL" } };
}
