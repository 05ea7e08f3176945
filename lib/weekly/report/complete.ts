import * as v from "valibot";
import { isErasure } from "../context/erasure.ts";
import { rememberUnclaimed } from "../context/new-owners.ts";
import type { Owner } from "../context/owner.ts";
import type { Run } from "../context/run.ts";
import { MONDAY_ENDED } from "../context/run-stop.ts";
import type { Scope } from "../database/recipients.ts";
import {
  databaseCode,
  isConnectionLoss,
  isOutsideReportDay,
  REPORT_PATIENCE_MS,
  repeatWhileLost,
} from "../database/refusals.ts";
import type { ClaimedReport, CompletedClaim, ReportClaim } from "../database/reports.ts";
import type { DeliveryChannel } from "../delivery/channel.ts";
import type { CompletedReport } from "../delivery/completed-report.ts";
import type { HandOver } from "../delivery/hand-over.ts";
import type { Turn } from "../outage/admission.ts";
import { payloadSchema, SCHEMA_VERSION } from "../payload.ts";
import type { ReportInProgress } from "./in-progress.ts";
import { makeReport } from "./make.ts";
import { PutBack, ReportFailure } from "./report-failure.ts";

/**
 * The outcome of one owner's report; a failure is counted and kept for the summary.
 *
 * Shape: `handOver` is what storing the report hands over to its first delivery, null when it was stored before;
 *        `put_back`: the owner is taken once more; `stopped`: the run ended before the claim.
 */
export type ReportResult =
  | { status: "completed"; report: CompletedReport; handOver: HandOver | null }
  | { status: "busy" | "ineligible" | "failed" | "put_back" | "stopped" };

/** A report that waits for an application that asked for fewer calls: its row is free, and its owner comes again. */
export type ThrottledReport = { status: "throttled"; reportId: string; code: string; owner: Owner };

const REPORT_LEASE_MS = 20 * 60_000;
/** How long a report is marked as failed for a database that it has waited for already; its lease ends in any case. */
const FAIL_MS = 5_000;

/**
 * Steps 1 to 6 for one owner: a new report, or the stored one when it is complete.
 *
 * Behaviour: never throws for one report; a technical failure makes the row `failed` while this process holds it.
 * Source:    weekly report document, Run flow 1 to 6.
 */
export async function completeReport(
  run: Run,
  owner: Owner,
  turn: Turn,
): Promise<ReportResult | ThrottledReport> {
  const { scope } = owner;
  const claimedAtMs = run.dependencies.monotonicMs();
  let claim: ReportClaim;
  try {
    claim = await claimReport(run, scope, claimedAtMs); // 1, 2
  } catch (error) {
    if (isOutsideReportDay(error)) {
      run.stop.because(MONDAY_ENDED);
      return { status: "stopped" };
    }
    rememberUnclaimed(run, scope);
    if (await isErasure(run.dependencies.store, scope, error)) return ineligible(run);
    return failed(run, { scope, code: "report_claim_failed", cause: error });
  }
  if (claim.outcome === "busy") return { status: "busy" };
  if (claim.outcome === "ineligible") return ineligible(run);
  if (claim.outcome === "completed") return reuse(run, scope, claim);

  return await finish(run, {
    report: { id: claim.reportId, token: claim.token, scope, window: run.window },
    connections: claim.connections,
    leaseLeftMs: () => claimedAtMs + REPORT_LEASE_MS - run.dependencies.monotonicMs(),
    turn,
    isSecondChance: owner.isSecondChance,
    answers: owner.answers,
    throttled: owner.throttled,
  }); // 3 to 6
}

/** Repeated with its token after a lost answer, a claim that did take place is returned again. */
async function claimReport(run: Run, scope: Scope, claimedAtMs: number): Promise<ReportClaim> {
  const token = crypto.randomUUID();
  const claimOnce = () => run.dependencies.store.claimReport(scope, run.window, SCHEMA_VERSION, token);
  return await repeatWhileLost(claimOnce, {
    ...run.dependencies,
    deadlineMs: claimedAtMs + REPORT_PATIENCE_MS,
    signal: run.stop.signal,
  });
}

/** Makes a claimed report; when that fails, so does its row. */
async function finish(run: Run, work: ReportInProgress): Promise<ReportResult | ThrottledReport> {
  const { id, scope } = work.report;
  try {
    const { payload, handOver } = await makeReport(run, work);
    run.tally.reports.completed += 1;
    if (payload.coverageStatus === "partial") run.tally.reports.partialCoverage += 1;
    return { status: "completed", report: { id, scope, payload, known: {} }, handOver };
  } catch (error) {
    if (await isErasure(run.dependencies.store, scope, error)) return ineligible(run);
    if (error instanceof PutBack) return await putBack(run, work, error);
    const { code, cause } =
      error instanceof ReportFailure ? error : { code: "report_persist_failed", cause: error };
    await failRow(run, work.report, { code, cause });
    return failed(run, { scope, code, cause, reportId: id });
  }
}

/** The row is free for anyone at once: nothing waits under a lease. */
async function putBack(
  run: Run,
  { report, isSecondChance }: ReportInProgress,
  { code, answers, throttled }: PutBack,
): Promise<ReportResult | ThrottledReport> {
  const { id: reportId, scope } = report;
  await failRow(run, report, { code });
  const facts = { code, tenantId: scope.tenantId, reportId };
  run.dependencies.log.debug("A report waits for the application", facts);
  if (throttled !== null)
    return { status: "throttled", reportId, code, owner: { scope, isSecondChance, answers, throttled } };
  run.putBack.add({ scope, reportId, code, answers });
  return { status: "put_back" };
}

async function failRow(
  run: Run,
  report: ClaimedReport,
  { code, cause }: { code: string; cause?: unknown },
): Promise<void> {
  const patienceMs = isConnectionLoss(cause) ? FAIL_MS : REPORT_PATIENCE_MS;
  await repeatWhileLost(() => run.dependencies.store.failReport(report, code), {
    ...run.dependencies,
    deadlineMs: run.dependencies.monotonicMs() + patienceMs,
    signal: run.stop.signal,
  }).catch(() => {
    // No longer ours, or out of reach: the lease ends by itself.
  });
}

/** An owner who gets no report any more: not eligible, or deleted while the run worked for it. */
function ineligible(run: Run): ReportResult {
  run.tally.reports.ineligible += 1;
  return { status: "ineligible" };
}

/**
 * A completed report is taken as it is stored; only its deliveries go on.
 *
 * Behaviour: one that this version cannot read fails only when something of it still has to be sent.
 */
function reuse(
  run: Run,
  scope: Scope,
  { reportId, payload: stored, deliveries: known }: CompletedClaim,
): ReportResult {
  const parsed = v.safeParse(payloadSchema, stored);
  const payload = parsed.success ? parsed.output : null;
  const report = { id: reportId, scope, payload, known };
  if (payload === null && run.channels.some((channel) => needsPayload(channel, report)))
    return failed(run, { scope, code: "report_payload_unreadable", reportId });
  run.tally.reports.reused += 1;
  if (payload?.coverageStatus === "partial") run.tally.reports.partialCoverage += 1;
  return { status: "completed", report, handOver: null };
}

function needsPayload({ name, leftOut }: DeliveryChannel, { known }: CompletedReport): boolean {
  const status = known[name]?.status;
  return !leftOut && status !== "sent" && status !== "unknown";
}

function failed(
  run: Run,
  { scope, code, cause, reportId }: { scope: Scope; code: string; cause?: unknown; reportId?: string },
): ReportResult {
  run.tally.reports.failed += 1;
  const ids = { tenantId: scope.tenantId, ...(reportId === undefined ? {} : { reportId }) };
  run.tally.fail({ step: "report", code, ...ids });
  run.dependencies.log.error("A report could not be completed", { code, ...ids, cause: causeOf(cause) });
  return { status: "failed" };
}

// Never a driver's message nor a schema's: both repeat data. A SQLSTATE or the path of a key says enough.
function causeOf(cause: unknown): string | undefined {
  if (cause === null || cause === undefined) return undefined;
  if (v.isValiError(cause)) return `payload: ${cause.issues.map((issue) => v.getDotPath(issue)).join(", ")}`;
  return databaseCode(cause);
}
