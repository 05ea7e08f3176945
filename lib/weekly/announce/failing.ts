import { failureRank, RANK } from "../../last-run/failure-rank.ts";
import type { WeeklySummary } from "../context/summary.ts";

/** Everything of the run went well, and the ledger is not as a success leaves it: only the ledger says what is open. */
const WEEK_OPEN = "WEEK_OPEN";

/**
 * Whether a failed run left nothing open but what another process works on: by its own failures, and by the ledger.
 *
 * Behaviour: a report that the other process has just completed has no deliveries for a moment.
 */
export function isOnlyHeldElsewhere(summary: WeeklySummary): boolean {
  const own = failingOf(summary).filter(({ code }) => code !== WEEK_OPEN);
  if (brokeOff(summary) || own.some((failure) => failureRank(failure) !== RANK.heldElsewhere)) return false;
  return (own.length > 0 || isInWork(summary)) && !isOpen(summary) && !hasFailedDeliveries(summary);
}

/** Whether all that a failed run left open are recipients without a phone or an address. */
export function isOnlyRecipients(summary: WeeklySummary): boolean {
  const failing = failingOf(summary);
  if (brokeOff(summary) || isOpen(summary)) return false;
  const isRecipients = failing.some((failure) => failureRank(failure) === RANK.recipient);
  return isRecipients && failing.every((failure) => failureRank(failure) <= RANK.recipient);
}

/** The failures that fail the run, as far as the summary names them. */
function failingOf({ failures }: WeeklySummary): WeeklySummary["failures"] {
  return failures.filter((failure) => failureRank(failure) !== RANK.failsNoRun);
}

/** Whether something failed that is no owner's. */
function brokeOff({ error, editorials, heartbeat }: WeeklySummary): boolean {
  return error !== null || editorials.status === "failed" || heartbeat === "failed";
}

function isInWork({ week }: WeeklySummary): boolean {
  return week !== null && week.reports.running + week.whatsapp.running + week.email.running > 0;
}

/** Whether the ledger has something open besides failed deliveries and what another process works on. */
function isOpen({ week, reports }: WeeklySummary): boolean {
  if (week === null) return false;
  const deliveries = [week.whatsapp, week.email];
  return (
    week.reports.failed + week.reports.missing > 0 ||
    deliveries.some(({ unknown, partial }) => unknown + partial > 0) ||
    deliveries.some(({ missing }) => missing > reports.busy)
  );
}

function hasFailedDeliveries({ week }: WeeklySummary): boolean {
  return week !== null && week.whatsapp.failed + week.email.failed > 0;
}
