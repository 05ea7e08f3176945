import * as v from "valibot";
import { type Run, refusalToBegin } from "../context/run.ts";
import { APPLICATION_REFUSES, MONDAY_ENDED } from "../context/stop.ts";
import type { DeliveryChannelName } from "../database/deliveries.ts";
import type { Scope } from "../database/recipients.ts";
import { databaseCode, isOutsideReportDay, repeatWhileLost } from "../database/refusals.ts";
import type { ReportClaim } from "../database/reports.ts";
import type { CompletedReport } from "../delivery/deliver.ts";
import { type Payload, payloadSchema, SCHEMA_VERSION } from "../payload.ts";
import { buildPayload } from "./build-payload.ts";
import { collectSocial, LEASE_EXHAUSTED } from "./collect.ts";
import { evidenceOf } from "./evidence.ts";
import { fingerprint } from "./fingerprint.ts";

/** A report that can be delivered, with what the ledger already says of its deliveries. */
export type DeliverableReport = CompletedReport & { known: Partial<Record<DeliveryChannelName, string>> };

/** What became of one owner's report; a failure is counted and kept for the summary. */
export type ReportResult =
  | { status: "completed"; report: DeliverableReport }
  | { status: "busy" | "ineligible" | "failed" };

const REPORT_LEASE_MS = 20 * 60_000;
const CLAIM_MS = 20_000;
/** How long reading and persisting may each wait for a database that is briefly away; well inside the lease. */
const PERSIST_MS = 60_000;

/**
 * Steps 1 to 6 for one owner: claim, collect, read, fingerprint, persist; or the stored report when it is complete.
 *
 * Shape:  never throws for one report: a technical failure makes the row `failed` while it is still ours.
 * Source: weekly report document, Run flow 1 to 6.
 */
export async function completeReport(run: Run, scope: Scope): Promise<ReportResult> {
  const { store, monotonicMs } = run.dependencies;
  const claimedAtMs = monotonicMs();
  let claim: ReportClaim;
  try {
    // Repeated after a lost answer, a claim that did take place is found busy: nothing is done twice.
    claim = await repeatWhileLost(() => store.claimReport(scope, run.window, SCHEMA_VERSION), {
      deadlineMs: claimedAtMs + CLAIM_MS,
      ...run.dependencies,
      signal: run.stop.signal,
    }); // 1, 2
  } catch (error) {
    if (isOutsideReportDay(error)) {
      run.stop.because(MONDAY_ENDED);
      return { status: "failed" };
    }
    return failed(run, scope, "report_claim_failed", error);
  }
  if (claim.outcome === "busy") return { status: "busy" };
  if (claim.outcome === "ineligible" || claim.reportId === null) {
    run.tally.reports.ineligible += 1;
    return { status: "ineligible" };
  }
  if (claim.outcome === "completed" || claim.token === null) return reuse(run, scope, claim);

  const report = { id: claim.reportId, token: claim.token };
  const leaseLeftMs = () => claimedAtMs + REPORT_LEASE_MS - monotonicMs();
  try {
    const payload = await build(run, scope, claim, report, leaseLeftMs); // 3 to 6
    run.tally.reports.completed += 1;
    if (payload.coverageStatus === "partial") run.tally.reports.partialCoverage += 1;
    return { status: "completed", report: { id: report.id, scope, payload, known: {} } };
  } catch (error) {
    const code = error instanceof ReportFailure ? error.code : "report_persist_failed";
    const cause = error instanceof ReportFailure ? error.cause : error;
    await repeatWhileLost(() => store.failReport(report, code), {
      deadlineMs: monotonicMs() + 5_000,
      ...run.dependencies,
      signal: run.stop.signal,
    }).catch(() => {
      // No longer ours, or out of reach: the lease ends by itself.
    });
    return failed(run, scope, code, cause, report.id);
  }
}

/** A report that cannot be finished: the code that its row keeps. */
class ReportFailure extends Error {
  readonly code: string;

  constructor(code: string, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

async function build(
  run: Run,
  scope: Scope,
  claim: ReportClaim,
  report: { id: string; token: string },
  leaseLeftMs: () => number,
): Promise<Payload> {
  const { dependencies, window, tally, stop } = run;
  const collected = await collectSocial(
    {
      application: dependencies.application,
      stopped: () => stop.reason()?.code ?? null,
      refusal: () => refusalToBegin(run),
      leaseLeftMs,
      onCall: () => {
        tally.social.calls += 1;
      },
      signal: stop.abandon,
    },
    scope,
    window,
    claim.connections,
  ).catch((error: unknown) => {
    throw new ReportFailure("report_collection_failed", error);
  }); // 3, 4
  for (const { code } of collected.connections) {
    if (code === null) continue;
    if (code !== LEASE_EXHAUSTED) tally.social.failed += 1;
    tally.fail({ step: "social", code, tenantId: scope.tenantId, reportId: report.id });
  }
  if (collected.refusal !== null && APPLICATION_REFUSES[collected.refusal]) {
    stop.because(APPLICATION_REFUSES[collected.refusal]!);
  }
  // A completed report never changes again: one that was cut short is better built anew by the next run.
  const cutShort = collected.refusal ?? stop.reason()?.code;
  if (cutShort !== undefined) throw new ReportFailure(cutShort);

  const analysed = collected.connections.filter(({ code }) => code === null).map(({ id }) => id);
  const rows = await repeatWhileLost(() => dependencies.store.readEvidence(scope, window, analysed), {
    deadlineMs: dependencies.monotonicMs() + Math.min(PERSIST_MS, leaseLeftMs()),
    ...dependencies,
    signal: stop.signal,
  }).catch((error: unknown) => {
    throw new ReportFailure("report_evidence_failed", error);
  }); // 5
  const evidence = evidenceOf(rows);
  // The payload has no room for why there is no score; whoever looks for it finds the row's number refused here.
  if (rows.score !== null && rows.score.score !== evidence.score.value)
    dependencies.log.warn("A score that is not between 0 and 100 counts as absent", {
      code: "score_out_of_range",
      tenantId: scope.tenantId,
      reportId: report.id,
    });
  const { text, sha256 } = fingerprint(evidence);
  const payload = buildPayload({
    scope,
    window,
    generatedAt: rows.readAt,
    connections: collected.connections,
    rows,
    evidence,
    fingerprint: sha256,
    version: dependencies.version,
  });
  const stopped = stop.reason();
  if (stopped) throw new ReportFailure(stopped.code);
  const content = { schemaVersion: SCHEMA_VERSION, fingerprint: sha256, evidence: text, payload };
  const stored = await repeatWhileLost(
    () => dependencies.store.persistReport({ ...report, scope, window }, content),
    {
      deadlineMs: dependencies.monotonicMs() + Math.min(PERSIST_MS, leaseLeftMs()),
      ...dependencies,
      signal: stop.signal,
    },
  ).catch((error: unknown) => {
    if (!isOutsideReportDay(error)) throw error;
    stop.because(MONDAY_ENDED);
    throw new ReportFailure(MONDAY_ENDED.code);
  }); // 6
  return v.parse(payloadSchema, stored);
}

/** A completed report is taken as it is stored; only its deliveries go on. */
function reuse(run: Run, scope: Scope, claim: ReportClaim): ReportResult {
  const parsed = v.safeParse(payloadSchema, claim.payload);
  if (!parsed.success) return failed(run, scope, "report_payload_unreadable", null, claim.reportId!);
  run.tally.reports.reused += 1;
  if (parsed.output.coverageStatus === "partial") run.tally.reports.partialCoverage += 1;
  const report = { id: claim.reportId!, scope, payload: parsed.output, known: claim.deliveries };
  return { status: "completed", report };
}

function failed(run: Run, scope: Scope, code: string, cause: unknown, reportId?: string): ReportResult {
  run.tally.reports.failed += 1;
  const ids = { tenantId: scope.tenantId, ...(reportId === undefined ? {} : { reportId }) };
  run.tally.fail({ step: "report", code, ...ids });
  run.dependencies.log.error("A report could not be completed", { code, ...ids, cause: causeOf(cause) });
  return { status: "failed" };
}

// Neither a driver's message nor a schema's: both repeat data. A SQLSTATE or the path of a key says enough.
function causeOf(cause: unknown): string | undefined {
  if (cause === null || cause === undefined) return undefined;
  if (v.isValiError(cause)) return `payload: ${cause.issues.map((issue) => v.getDotPath(issue)).join(", ")}`;
  return databaseCode(cause);
}
