import * as v from "valibot";
import type { Run } from "../context/run.ts";
import { MONDAY_ENDED } from "../context/run-stop.ts";
import { isOutsideReportDay, REPORT_PATIENCE_MS, repeatWhileLost } from "../database/refusals.ts";
import type { ReportContent } from "../database/reports.ts";
import { type HandOver, newHandOver, persistTogether } from "../delivery/hand-over.ts";
import { type Payload, payloadSchema, SCHEMA_VERSION } from "../payload.ts";
import { buildPayload } from "./build-payload.ts";
import { callVerdict } from "./call-verdict.ts";
import { LEFT_OUT } from "./collect.ts";
import { type CollectedOwner, collectOwner } from "./collect-owner.ts";
import { type Evidence, evidenceOf } from "./evidence.ts";
import { fingerprint } from "./fingerprint.ts";
import type { ReportInProgress } from "./in-progress.ts";
import { ReportFailure } from "./report-failure.ts";

/** A report that was just stored. */
export type MadeReport = { payload: Payload; handOver: HandOver };

/**
 * Steps 3 to 6 for a claimed report: collect, read, fingerprint, persist.
 *
 * Shape:  the payload as the row keeps it, and the first delivery's claim when it was made with it.
 * Errors: PutBack when the owner has to be taken once more; ReportFailure; any other failure is one of persisting.
 * Source: weekly report document, Run flow 3 to 6.
 */
export async function makeReport(run: Run, work: ReportInProgress): Promise<MadeReport> {
  const collected = await collectOwner(run, work); // 3 to 5
  const { connections, rows } = collected;
  const evidence = evidenceOf(rows);
  warnOfRefusedScore(run, work, collected, evidence);
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
  const handOver = newHandOver(run.channels[0] ?? null);
  const stored = await persist(run, work, { content, handOver }); // 6
  const made = { payload: readStored(stored, handOver), handOver };
  countNetworks(run, work, collected);
  return made;
}

/** What is handed over has to be given back when the report is not delivered. */
function readStored(stored: unknown, { claimed }: HandOver): Payload {
  const parsed = v.safeParse(payloadSchema, stored);
  if (parsed.success) return parsed.output;
  claimed?.release();
  throw new v.ValiError(parsed.issues);
}

/** Counts the networks whose outcome is final, and names those that failed. */
function countNetworks(
  { tally }: Run,
  { report }: ReportInProgress,
  { connections, rows }: CollectedOwner,
): void {
  for (const connection of connections) {
    const { code, failure } = connection;
    if (callVerdict(connection, rows) === "good") tally.networksAnalysed += 1;
    if (code === null || code === LEFT_OUT) continue;
    if (failure !== null) tally.social.failed += 1;
    tally.fail({ step: "social", code, tenantId: report.scope.tenantId, reportId: report.id });
  }
}

/** The payload says nothing of a score that was refused, so the log does. */
function warnOfRefusedScore(
  run: Run,
  { report }: ReportInProgress,
  { rows }: CollectedOwner,
  evidence: Evidence,
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
  { content, handOver }: { content: ReportContent; handOver: HandOver },
): Promise<unknown> {
  const { dependencies, stop } = run;
  const together = await persistTogether({ ...dependencies, stop }, handOver, { report, content });
  if (together !== null) return together.payload;
  return await repeatWhileLost(() => dependencies.store.persistReport(report, content), {
    ...dependencies,
    deadlineMs: dependencies.monotonicMs() + Math.min(REPORT_PATIENCE_MS, leaseLeftMs()),
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!isOutsideReportDay(error)) throw error;
    stop.because(MONDAY_ENDED);
    throw new ReportFailure(MONDAY_ENDED.code);
  });
}
