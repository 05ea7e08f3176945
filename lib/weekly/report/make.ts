import * as v from "valibot";
import { type Run, refusalToBegin } from "../context/run.ts";
import { APPLICATION_REFUSES, MONDAY_ENDED } from "../context/run-stop.ts";
import type { EvidenceRows } from "../database/evidence.ts";
import { isOutsideReportDay, repeatWhileLost } from "../database/refusals.ts";
import type { ClaimedReport, Connection, ReportContent } from "../database/reports.ts";
import { type Payload, payloadSchema, SCHEMA_VERSION } from "../payload.ts";
import { buildPayload } from "./build-payload.ts";
import { type CollectedConnection, collectSocial, LEASE_EXHAUSTED } from "./collect.ts";
import { type Evidence, evidenceOf } from "./evidence.ts";
import { fingerprint } from "./fingerprint.ts";

/** A report that this process has claimed, with the connections to collect and what is left of the lease. */
export type ReportInProgress = {
  report: ClaimedReport;
  connections: Connection[];
  leaseLeftMs(): number;
};

/** Why a report cannot be finished; its row keeps the code. */
export class ReportFailure extends Error {
  readonly code: string;

  constructor(code: string, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

/** How long reading and persisting may each wait for a database that is briefly away; well inside the lease. */
const DATABASE_AWAY_MS = 60_000;

/**
 * Steps 3 to 6 for a claimed report: collect, read, fingerprint, persist.
 *
 * Shape:  the payload as the row keeps it.
 * Errors: ReportFailure; any other failure is one of persisting.
 * Source: weekly report document, Run flow 3 to 6.
 */
export async function makeReport(run: Run, work: ReportInProgress): Promise<Payload> {
  const connections = await collect(run, work); // 3, 4
  const rows = await readRows(run, work, connections); // 5
  const evidence = evidenceOf(rows);
  warnOfRefusedScore(run, work, { rows, evidence });
  const { text, sha256 } = fingerprint(evidence);
  const { scope, window } = work.report;
  const payload = buildPayload({
    scope,
    window,
    generatedAt: rows.readAt,
    connections,
    rows,
    evidence,
    fingerprint: sha256,
    version: run.dependencies.version,
  });
  const stopped = run.stop.reason();
  if (stopped) throw new ReportFailure(stopped.code);
  const content = { schemaVersion: SCHEMA_VERSION, fingerprint: sha256, evidence: text, payload };
  return v.parse(payloadSchema, await persist(run, work, content)); // 6
}

/** Asks the application for each connection's analysis; counts and names the calls that failed. */
async function collect(
  run: Run,
  { report, connections, leaseLeftMs }: ReportInProgress,
): Promise<CollectedConnection[]> {
  const { dependencies, tally, stop } = run;
  const collecting = {
    application: dependencies.application,
    stopped: () => stop.reason()?.code ?? null,
    refusal: () => refusalToBegin(run),
    leaseLeftMs,
    onCall: () => {
      tally.social.calls += 1;
    },
    signal: stop.abandon,
  };
  const collected = await collectSocial(collecting, report.scope, report.window, connections).catch(
    (error: unknown) => {
      throw new ReportFailure("report_collection_failed", error);
    },
  );
  for (const { code } of collected.connections) {
    if (code === null) continue;
    if (code !== LEASE_EXHAUSTED) tally.social.failed += 1;
    tally.fail({ step: "social", code, tenantId: report.scope.tenantId, reportId: report.id });
  }
  if (collected.refusal !== null && APPLICATION_REFUSES[collected.refusal]) {
    stop.because(APPLICATION_REFUSES[collected.refusal]!);
  }
  // A completed report never changes again: one that was cut short is better built anew by the next run.
  const cutShort = collected.refusal ?? stop.reason()?.code;
  if (cutShort !== undefined) throw new ReportFailure(cutShort);
  return collected.connections;
}

/** The week's rows: analyses only of the connections that the application has just analysed. */
async function readRows(
  run: Run,
  { report, leaseLeftMs }: ReportInProgress,
  connections: CollectedConnection[],
): Promise<EvidenceRows> {
  const { dependencies, stop } = run;
  const analysed = connections.filter(({ code }) => code === null).map(({ id }) => id);
  return await repeatWhileLost(() => dependencies.store.readEvidence(report.scope, report.window, analysed), {
    deadlineMs: dependencies.monotonicMs() + Math.min(DATABASE_AWAY_MS, leaseLeftMs()),
    ...dependencies,
    signal: stop.signal,
  }).catch((error: unknown) => {
    throw new ReportFailure("report_evidence_failed", error);
  });
}

/** The payload says nothing of a score that was refused, so the log does. */
function warnOfRefusedScore(
  run: Run,
  { report }: ReportInProgress,
  { rows, evidence }: { rows: EvidenceRows; evidence: Evidence },
): void {
  if (rows.score === null || rows.score.score === evidence.score.value) return;
  run.dependencies.log.warn("A score that is not between 0 and 100 counts as absent", {
    code: "score_out_of_range",
    tenantId: report.scope.tenantId,
    reportId: report.id,
  });
}

async function persist(
  run: Run,
  { report, leaseLeftMs }: ReportInProgress,
  content: ReportContent,
): Promise<unknown> {
  const { dependencies, stop } = run;
  return await repeatWhileLost(() => dependencies.store.persistReport(report, content), {
    deadlineMs: dependencies.monotonicMs() + Math.min(DATABASE_AWAY_MS, leaseLeftMs()),
    ...dependencies,
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!isOutsideReportDay(error)) throw error;
    stop.because(MONDAY_ENDED);
    throw new ReportFailure(MONDAY_ENDED.code);
  });
}
