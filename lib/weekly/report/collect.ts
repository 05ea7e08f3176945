import type { WeekBounds } from "../../ledger/week-state.ts";
import type { AnalysisFailure, ApplicationClient } from "../../providers/application/client.ts";
import type { Scope } from "../database/recipients.ts";
import type { Connection } from "../database/reports.ts";
import type { ThrottledCall } from "../outage/throttle.ts";

/**
 * What came of asking for one connection's analysis.
 *
 * Shape: `code` is null when the application answered; `failure` is null when there was no call, or no failure;
 *        `beganAt` is the moment of the admission at which the call began, 0 without a call.
 */
export type AnalysisAnswer = { code: string | null; failure: AnalysisFailure | null; beganAt: number };

/** A connection with its answer. */
export type CollectedConnection = Connection & AnalysisAnswer;

/** The code of a connection that was not asked for: the claim's lease would have ended during the call. */
export const LEASE_EXHAUSTED = "collection_lease_exhausted";

/** The code of a connection that was not asked for: the operator chose `--without-social`. */
export const LEFT_OUT = "social_left_out";

/**
 * The answers of one owner's connections, and why the rest was not asked.
 *
 * Shape: `whole`: all were asked; `refused`: the last answer may be meant for the worker itself; `put_back`: the
 *        application is away; `throttled`: the next call is repeated after a wait; `stopped`: the run ends, with this
 *        code.
 */
export type Collected = { connections: CollectedConnection[] } & (
  | { status: "whole" | "refused" | "put_back" }
  | { status: "throttled"; throttled: ThrottledCall }
  | { status: "stopped"; code: string }
);

/** What collecting needs: the application, the right to go on, and how much of the claim's lease is left. */
export type CollectDependencies = {
  application: Pick<ApplicationClient, "analyzeWeek">;
  /** Why no further call may begin, as far as this process knows; null when one may. */
  stopped(): string | null;
  /** The same, with a look at the database's clock: the end of Monday stops a run too. */
  refusal(clock: "recent" | "now"): Promise<string | null>;
  /** The application is away: the owner is put back. */
  mustPutBack(): boolean;
  /** Whether a 401 or 409 can be meant for the worker itself: no call of this run has been good. */
  mayRefuseWorker(): boolean;
  leaseLeftMs(): number;
  /** The call that was throttled before this turn. */
  throttled: ThrottledCall | null;
  /** Until when a throttled call waits before it is repeated; null when it is not. */
  waitUntil(call: { retryAfterMs: number; repeats: number }): number | null;
  /** A call that has waited was not throttled again. */
  onUnthrottled(): void;
  /** Called when a call begins; returns its moment. */
  onCall(): number;
  /** Called for each failed call, unless it is returned as `refused`. */
  onFailure(failure: AnalysisFailure, answer: AnalysisAnswer): void;
  signal: AbortSignal;
};

/** Whose connections are collected, and what is known of them already. */
export type CollectWork = {
  scope: Scope;
  window: WeekBounds;
  connections: Connection[];
  known: ReadonlyMap<string, AnalysisAnswer>;
};

/** How much of the lease must be left to begin a call: time for the call and for the steps after it. */
const LEASE_NEEDED_MS = 120_000;

/**
 * Step 3: asks the application to analyse each active connection, one call each.
 *
 * Behaviour: a failed call is data, with its code. One call at a time per owner, so that few calls are in flight when
 *            the application goes away or refuses. A call that is throttled (429) and worth a wait ends the collection:
 *            nothing waits under a lease.
 * Source:    weekly report document, run flow 3 and 4.
 */
export async function collectSocial(
  dependencies: CollectDependencies,
  { scope, window, connections, known }: CollectWork,
): Promise<Collected> {
  const collected: CollectedConnection[] = [];
  let isFirst = true;
  for (const connection of connections) {
    const answered = known.get(connection.id) ?? withoutCall(dependencies);
    if (answered !== null) {
      collected.push({ ...connection, ...answered });
      continue;
    }
    // The claim has just checked the day, so the first call need not ask the clock.
    const code = isFirst ? dependencies.stopped() : await dependencies.refusal("recent");
    if (code !== null) return { status: "stopped", code, connections: collected };
    if (dependencies.mustPutBack()) return { status: "put_back", connections: collected };
    isFirst = false;
    const answer = await askUnlessThrottled(dependencies, { scope, window, connection });
    if ("untilMs" in answer) return { status: "throttled", throttled: answer, connections: collected };
    collected.push({ ...connection, ...answer });
    if (answer.failure === null) continue;
    if (answer.failure === "refused" && dependencies.mayRefuseWorker())
      return { status: "refused", connections: collected };
    dependencies.onFailure(answer.failure, answer);
    // The application says that Monday is over: the database knows.
    const ended = answer.code === OUTSIDE_MONDAY ? await dependencies.refusal("now") : null;
    if (ended !== null) return { status: "stopped", code: ended, connections: collected };
  }
  return { status: "whole", connections: collected };
}

/** The application's answer on another day than Monday. */
const OUTSIDE_MONDAY = "APP_HTTP_409";

function withoutCall({ leaseLeftMs }: CollectDependencies): AnalysisAnswer | null {
  return leaseLeftMs() < LEASE_NEEDED_MS ? { code: LEASE_EXHAUSTED, failure: null, beganAt: 0 } : null;
}

type Question = { scope: Scope; window: WeekBounds; connection: Connection };

/** One analysis, or the wait before it is asked for again. */
async function askUnlessThrottled(
  dependencies: CollectDependencies,
  question: Question,
): Promise<AnalysisAnswer | ThrottledCall> {
  const { throttled, waitUntil, onUnthrottled } = dependencies;
  const connectionId = question.connection.id;
  const repeats = throttled?.connectionId === connectionId ? throttled.times : 0;
  const { retryAfterMs, ...answer } = await call(dependencies, question);
  const untilMs = retryAfterMs === null ? null : waitUntil({ retryAfterMs, repeats });
  if (untilMs !== null) return { connectionId, times: repeats + 1, untilMs };
  if (retryAfterMs === null && repeats > 0) onUnthrottled();
  return answer;
}

type Calling = Pick<CollectDependencies, "application" | "onCall" | "signal">;

/** One call of the application. */
export async function askFor(calling: Calling, question: Question): Promise<AnalysisAnswer> {
  const { retryAfterMs: _, ...answer } = await call(calling, question);
  return answer;
}

async function call(
  { application, onCall, signal }: Calling,
  { scope, window, connection }: Question,
): Promise<AnalysisAnswer & { retryAfterMs: number | null }> {
  const beganAt = onCall();
  const week = {
    tenantId: scope.tenantId,
    userId: scope.userId,
    connectionId: connection.id,
    windowStart: window.start,
    windowEnd: window.end,
  };
  const result = await application.analyzeWeek(week, signal);
  if (result.status === "ok") return { code: null, failure: null, beganAt, retryAfterMs: null };
  const { code, failure, retryAfterMs } = result;
  return { code, failure, beganAt, retryAfterMs };
}
