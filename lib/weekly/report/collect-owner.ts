import { refusalByRecentClock, refusalToBegin } from "../context/report-day-gate.ts";
import type { Run } from "../context/run.ts";
import type { EvidenceRows } from "../database/evidence.ts";
import { REPORT_PATIENCE_MS, repeatWhileLost } from "../database/refusals.ts";
import type { Connection } from "../database/reports.ts";
import type { Turn } from "../outage/admission.ts";
import { askAgain, askReported, askReportedOfRefusal } from "../outage/ask-reported.ts";
import type { CallVerdict } from "../outage/breaker.ts";
import { decideOwner } from "../outage/decide-owner.ts";
import { SOCIAL_RETRY } from "../outage/put-back.ts";
import { callVerdict } from "./call-verdict.ts";
import {
  type AnalysisAnswer,
  type Collected,
  type CollectedConnection,
  collectSocial,
  LEASE_EXHAUSTED,
  LEFT_OUT,
} from "./collect.ts";
import type { ReportInProgress } from "./in-progress.ts";
import { PutBack, ReportFailure } from "./report-failure.ts";

/** One owner's connections with their answers, and the week's rows. */
export type CollectedOwner = { connections: CollectedConnection[]; rows: EvidenceRows };

type Known = ReadonlyMap<string, AnalysisAnswer>;

/**
 * Steps 3 to 5 for one owner: asks for the analyses, reads the week's rows, and decides whether that makes a report.
 *
 * Behaviour: a 401 or 409 before any good call of the run is judged again when another call of this owner was good.
 *            On an owner's second chance, a call that failed in a way that may heal is made once more as soon as
 *            another call shows that the application works, and is final when one shows it again after that: an
 *            outage may begin and end between any two calls.
 * Errors:    PutBack when the owner has to be taken once more; ReportFailure.
 */
export async function collectOwner(run: Run, work: ReportInProgress): Promise<CollectedOwner> {
  let known = knownAnswers(run, work);
  let rows: EvidenceRows | null = null;
  let isRepeated = false;
  for (;;) {
    const collected = await collect(run, work, known);
    throwIfStopped(run, collected);
    const { connections, status } = collected;
    rows = (await judgeAnswered(run, work, { connections, known, rows })) ?? rows;
    if (status === "throttled")
      throw new PutBack(SOCIAL_RETRY, standing(connections), { throttled: collected.throttled });
    if (status === "refused") {
      await judgeRefused(run, work, connections);
      known = answersOf(connections, () => true);
      continue;
    }
    const isProved = await isProvedToFail(run, work, { collected, rows });
    if (isRepeated || !isProved) return await conclude(run, work, { collected, rows, mayDecide: isProved });
    isRepeated = true;
    known = answersOf(connections, ({ failure }) => failure !== "may_heal");
  }
}

/** Answers that are kept, so that no call is made; a probe asks all the same, since that is what it is for. */
function knownAnswers({ options }: Run, { connections, turn, answers }: ReportInProgress): Known {
  if (options.withoutSocial)
    return new Map(connections.map(({ id }) => [id, { code: LEFT_OUT, failure: null, beganAt: 0 }]));
  return (turn.isProbe ? null : answers) ?? new Map();
}

async function collect(run: Run, work: ReportInProgress, known: Known): Promise<Collected> {
  const { dependencies, tally, stop, admission, throttle } = run;
  const { report, connections, leaseLeftMs, turn, throttled } = work;
  const collecting = {
    application: dependencies.application,
    stopped: () => stop.reason()?.code ?? null,
    refusal: (clock: "recent" | "now") => (clock === "now" ? refusalToBegin(run) : refusalByRecentClock(run)),
    mustPutBack: () => admission.mustPutBack(turn),
    mayRefuseWorker: () => !admission.hasGood(),
    leaseLeftMs,
    // A probe finds out whether the application works; the next one comes soon enough.
    waitUntil: (call: { retryAfterMs: number; repeats: number }) =>
      turn.isProbe ? null : throttle.waitUntil(call),
    throttled,
    onUnthrottled: throttle.helped,
    onCall: () => {
      tally.social.calls += 1;
      return admission.begin(turn);
    },
    onFailure: (verdict: CallVerdict, { code, beganAt }: AnalysisAnswer) =>
      admission.record(turn, { verdict, code, beganAt }),
    signal: stop.abandon,
  };
  const { scope, window } = report;
  return await collectSocial(collecting, { scope, window, connections, known }).catch((error: unknown) => {
    throw new ReportFailure("report_collection_failed", error);
  });
}

/** A completed report never changes again: one that was cut short is better built anew by the next run. */
function throwIfStopped({ stop }: Run, collected: Collected): void {
  const code = stop.reason()?.code ?? (collected.status === "stopped" ? collected.code : null);
  if (code !== null) throw new ReportFailure(code);
}

/** The rows, when a call was answered, or was before this turn: only they show whether it was good. */
async function judgeAnswered(
  run: Run,
  work: ReportInProgress,
  {
    connections,
    known,
    rows: before,
  }: { connections: CollectedConnection[]; known: Known } & Pick<Judged, "rows">,
): Promise<EvidenceRows | null> {
  const answered = connections.filter(({ id, code }) => code === null && !known.has(id));
  const hasUnread = before === null && connections.some(({ code }) => code === null);
  if (answered.length === 0 && !hasUnread) return null;
  const rows = await readRows(run, work, connections);
  for (const connection of answered) {
    const verdict = callVerdict(connection, rows)!;
    const code = verdict === "good" ? null : "analysis_missing";
    run.admission.record(work.turn, { verdict, code, beganAt: connection.beganAt });
  }
  return rows;
}

/**
 * Records a refusal; it puts the owner back while nothing says that it is meant for this connection alone. Owners whose
 * reports are complete have the last word: else three expired tokens that are left over would end every further run.
 */
async function judgeRefused(
  run: Run,
  { turn }: ReportInProgress,
  connections: CollectedConnection[],
): Promise<void> {
  const { code, beganAt } = connections.at(-1)!;
  run.admission.record(turn, { verdict: "refused", code, beganAt });
  if (run.admission.isRefusedByAll()) await askReportedOfRefusal(run);
  if (!run.admission.hasGood())
    throw new PutBack(code!, run.putBack.mayRemember() ? standing(connections) : null);
}

/** A collected owner with the rows that were read so far. */
type Judged = { collected: Collected; rows: EvidenceRows | null };

/** Whether a call failed that may heal, on the second chance, and the application has been seen to work after that. */
async function isProvedToFail(
  run: Run,
  work: ReportInProgress,
  { collected, rows }: Judged,
): Promise<boolean> {
  const { connections, status } = collected;
  if (!work.isSecondChance || status !== "whole") return false;
  if (!verdictsOf(connections, rows).includes("may_heal")) return false;
  const good = connections.find((connection) => callVerdict(connection, rows) === "good");
  await learnWhetherAway(run, work, good ?? null);
  return run.admission.isFlowing() && run.admission.hasGoodSince(work.turn);
}

function verdictsOf(connections: CollectedConnection[], rows: EvidenceRows | null): CallVerdict[] {
  return connections.map((connection) => callVerdict(connection, rows)).filter((verdict) => verdict !== null);
}

async function conclude(
  run: Run,
  work: ReportInProgress,
  { collected, rows, mayDecide }: Judged & { mayDecide: boolean },
): Promise<CollectedOwner> {
  const { connections } = collected;
  if (collected.status === "put_back") throw new PutBack(SOCIAL_RETRY, null);
  const verdicts = verdictsOf(connections, rows);
  if (verdicts.some((verdict) => verdict !== "good")) await learnBeforeBreakingOff(run, work);
  const decision = decideOwner({
    verdicts,
    isSecondChance: work.isSecondChance,
    hasGood: run.admission.hasGood(),
    isFlowing: run.admission.isFlowing(),
    mayDecide: mayDecide || isWaitedFor(run, work.turn),
    mayRemember: run.putBack.mayRemember(),
  });
  if (decision.status === "put_back")
    throw new PutBack(SOCIAL_RETRY, decision.remember ? standing(connections) : null);
  return { connections, rows: rows ?? (await readRows(run, work, connections)) };
}

/** The run has waited as long as it does; a probe's failures belong to the wait. */
function isWaitedFor({ admission }: Run, turn: Turn): boolean {
  return !turn.isProbe && admission.isWaitingOver();
}

/** A run does not break off for owners whose connections fail while those of others work. */
async function learnBeforeBreakingOff(run: Run, { turn }: ReportInProgress): Promise<void> {
  if (run.admission.isLastProbe(turn)) await askReported(run, () => run.admission.hasGoodSince(turn));
}

/**
 * When no call has been good since, the application is asked for an owner whose report is complete, then once more for
 * this owner's connection that was good before.
 */
async function learnWhetherAway(
  run: Run,
  { turn, report }: ReportInProgress,
  good: Connection | null,
): Promise<void> {
  const isKnown = () => run.admission.hasGoodSince(turn) || !run.admission.isFlowing();
  if (!isKnown()) await askReported(run, isKnown);
  if (!isKnown() && good !== null) await askAgain(run, { scope: report.scope, connection: good });
}

/** The answers that would be the same in a while. */
function standing(connections: CollectedConnection[]): Known {
  return answersOf(connections, ({ code, failure }) => failure !== "may_heal" && code !== LEASE_EXHAUSTED);
}

function answersOf(connections: CollectedConnection[], wanted: (answer: AnalysisAnswer) => boolean): Known {
  const answers = connections
    .filter(wanted)
    .map(({ id, code, failure, beganAt }) => [id, { code, failure, beganAt }] as const);
  return new Map(answers);
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
    ...dependencies,
    deadlineMs: dependencies.monotonicMs() + Math.min(REPORT_PATIENCE_MS, leaseLeftMs()),
    signal: stop.signal,
  }).catch((error: unknown) => {
    throw new ReportFailure("report_evidence_failed", error);
  });
}
