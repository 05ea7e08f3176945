import { failureRank } from "../../last-run/failure-rank.ts";
import type { WeekState } from "../../ledger/week-state.ts";

/** The outcomes of one channel's deliveries; each is counted once. */
export type DeliveryCounts = {
  sent: number;
  reused: number;
  failed: number;
  partial: number;
  unknown: number;
  skipped: number;
};

/** One thing that went wrong: ids and codes, never names, numbers or addresses. */
export type Failure = {
  step:
    | "scope"
    | "social"
    | "report"
    | "whatsapp"
    | "email"
    | "editorials"
    | "heartbeat"
    | "readiness"
    | "week"
    | "run";
  code: string;
  tenantId?: string;
  reportId?: string;
  deliveryId?: string;
  providerMessageId?: string;
  /** What is behind a code that has several causes. */
  cause?: string | undefined;
};

/** The outcome of the editorial drain. */
export type EditorialSummary = {
  status: "completed" | "disabled" | "skipped" | "failed";
  code: string | null;
  calls: number;
  llmCalls: number;
  tenants: number;
  tenantFailures: number;
  /** Reason and cursor of the last answer, bounded, to find out why a drain stopped. */
  reasonStopped: string | null;
  cursor: string | null;
};

/** The result of a run as `--json` prints it; keys are only ever added. */
export type WeeklySummary = {
  command: "weekly";
  version: string;
  runId: string;
  dryRun: boolean;
  startedAt: string | null;
  finishedAt: string | null;
  durationMs: number;
  window: { start: string; end: string; week: string } | null;
  status: "success" | "failed" | "refused" | "not_ready" | "ready";
  exitCode: number;
  reports: {
    scopes: number;
    completed: number;
    reused: number;
    busy: number;
    failed: number;
    ineligible: number;
    partialCoverage: number;
  };
  social: { calls: number; failed: number };
  whatsapp: DeliveryCounts;
  email: DeliveryCounts;
  editorials: EditorialSummary;
  heartbeat: "written" | "kept" | "failed";
  /** What the ledger holds of the week, from all runs and hosts; null when the run ended before its verdict. */
  week: WeekState | null;
  /** Whether the alert webhook was told how the run ended; `off` where no webhook is set. */
  announced: "off" | "none" | "firing" | "resolved" | "failed";
  /** Until when a failed delivery of this week may be tried again: the end of the report day. */
  retryableUntil: string | null;
  failures: Failure[];
  failuresTruncated: boolean;
  /** What a dry run could not prove, because only a call with an effect would; empty for any other run. */
  unproved: string[];
  error: { code: string; message: string; hint?: string } | null;
};

/** How many failures a summary names; the counters count them all. */
export const FAILURES_SHOWN = 100;

/** The counters of a run while it goes on. */
export type Tally = ReturnType<typeof createTally>;

/** Counts what happens in a run; failures beyond the first hundred are counted and not kept. */
export function createTally() {
  const counts = (): DeliveryCounts => ({
    sent: 0,
    reused: 0,
    failed: 0,
    partial: 0,
    unknown: 0,
    skipped: 0,
  });
  const tally = {
    reports: { scopes: 0, completed: 0, reused: 0, busy: 0, failed: 0, ineligible: 0, partialCoverage: 0 },
    social: { calls: 0, failed: 0 },
    /** Networks with a readable analysis in a report that this run made. */
    networksAnalysed: 0,
    whatsapp: counts(),
    email: counts(),
    failures: [] as Failure[],
    failuresTruncated: false,
    /** Keeps a failure that explains many others, before all that were kept so far. */
    failFirst(failure: Failure): void {
      tally.failures.unshift(failure);
      if (tally.failures.length > FAILURES_SHOWN) {
        tally.failures.pop();
        tally.failuresTruncated = true;
      }
    },
    /** Keeps a failure for the summary; of too many, one that tells less makes room for one that tells more. */
    fail(failure: Failure): void {
      const { failures } = tally;
      if (failures.length === FAILURES_SHOWN) {
        tally.failuresTruncated = true;
        const lowest = failures.reduce((rank, kept) => Math.min(rank, failureRank(kept)), Infinity);
        if (lowest >= failureRank(failure)) return;
        failures.splice(
          failures.findLastIndex((kept) => failureRank(kept) === lowest),
          1,
        );
      }
      failures.push(failure);
    },
  };
  return tally;
}

/** Whether every network failed for good: then opsctl or the application is at fault, not one connection. */
export function everySocialCallFailed({ social, networksAnalysed }: Tally): boolean {
  return social.failed > 0 && networksAnalysed === 0;
}

/**
 * True when no counter shows anything left undone.
 *
 * Source: weekly report document, Errors: any failure, partial or unknown counter ends the run non-zero. Deliveries
 *         skipped after their channel stopped need no count here: what stopped it is a failure already.
 */
export function isClean(tally: Tally): boolean {
  const { reports, whatsapp, email } = tally;
  const bad = [whatsapp, email].reduce((sum, c) => sum + c.failed + c.partial + c.unknown, 0);
  return reports.failed === 0 && reports.busy === 0 && bad === 0;
}

/** The summary before anything has happened; runs and refusals fill in what they know. */
export function emptySummary(facts: { version: string; runId: string; dryRun: boolean }): WeeklySummary {
  const { reports, social, whatsapp, email } = createTally();
  return {
    command: "weekly",
    version: facts.version,
    runId: facts.runId,
    dryRun: facts.dryRun,
    startedAt: null,
    finishedAt: null,
    durationMs: 0,
    window: null,
    status: "not_ready",
    exitCode: 3,
    reports,
    social,
    whatsapp,
    email,
    editorials: noEditorials("skipped", null),
    heartbeat: "kept",
    week: null,
    announced: "off",
    retryableUntil: null,
    failures: [],
    failuresTruncated: false,
    unproved: [],
    error: null,
  };
}

/** An editorial drain that made no call. */
export function noEditorials(status: EditorialSummary["status"], code: string | null): EditorialSummary {
  return {
    status,
    code,
    calls: 0,
    llmCalls: 0,
    tenants: 0,
    tenantFailures: 0,
    reasonStopped: null,
    cursor: null,
  };
}
