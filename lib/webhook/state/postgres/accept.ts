import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { classifyDatabaseError } from "../../../platform/database/pool.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Alert } from "../../alert/alert.ts";
import { OutageLog } from "../../outage-log.ts";
import {
  type AcceptedAlert,
  type AcceptOutcome,
  ISSUE_TTL_MS,
  type OutboxLimits,
  type State,
  type Tries,
} from "../contract.ts";
import { RefusalLog } from "../refusal-log.ts";
import { issueKey, isUrgent, priorityOf, shownAlert } from "../stored.ts";
import { takenUp } from "./attempts.ts";
import type { StateLink } from "./connection.ts";
import { restoredText, storedKey, storedText } from "./stored-text.ts";

/** The largest call, unless a single request is larger: both sides have it in memory several times. */
const CALL_BYTES = 8_388_608;
const CALL_ALERTS = 1_000;
/** How long a database that has just not answered may take to say that it is there. */
const PROBE_LIMIT_MS = 1_000;
/** Time added to the limit for each alert: one request can have twenty thousand, and must not be refused for ever. */
const ALERT_MS = 2;

/**
 * Accepts requests, in one statement and one commit as long as they fit into it.
 *
 * Behaviour: the statement carries an id by which the database recognises it: asked again after a lost answer, it
 *            changes nothing and returns the first answer. Requests whose answer does not come within the limit are
 *            refused; the outcome says so when they may have been kept all the same, which is so only while the
 *            database has just stopped to answer.
 */
export function acceptor(
  link: StateLink,
  options: { limits: OutboxLimits; comments: boolean; log: Log },
): State["accept"] {
  const { log } = options;
  // A request that it takes says nothing of the next one.
  const misfits = new OutageLog({
    log,
    problem: "A request was refused, because the state's database did not take it",
    monotonicMs: () => performance.now(),
  });
  const refusals = new RefusalLog(log, "Alerts are refused: the state's database does not take them");
  let isAnswering = true;
  const answersTo = async (call: readonly Encoded[]): Promise<Answer[]> => {
    const fate = { mayBeKept: false };
    try {
      // What changes nothing is asked first: when that gets no answer, it is certain that nothing was kept.
      if (!isAnswering)
        await link.ask("reach the database", (sql) => sql`select 1`, { limitMs: PROBE_LIMIT_MS });
      const answers = await accept(link, call, { ...options, fate });
      isAnswering = true;
      refusals.accepted();
      return answers;
    } catch (error) {
      isAnswering = false;
      refusals.refused(error);
      return call.map(() => ({ refused: "state_unavailable", ...(fate.mayBeKept ? fate : {}) }));
    }
  };
  return async (requests, tries) => {
    const outcomes: AcceptOutcome[] = [];
    let isAway = false;
    for (const call of callsOf(requests, tries)) {
      // After one call got no answer, the next ones do not wait for it again.
      const answers: Answer[] = isAway ? call.map(() => REFUSED) : await answersTo(call);
      isAway = answers.length > 0 && answers.every(isUnavailable);
      for (const [at, { alerts }] of call.entries()) outcomes.push(outcomeOf(answers[at]!, alerts, misfits));
    }
    return outcomes;
  };
}

type Encoded = { alerts: readonly Alert[]; json: string };
type Answer =
  | { accepted: AnsweredAlert[] }
  | { refused: "outbox_full" | "state_unavailable"; sqlState?: string; mayBeKept?: boolean };
type AnsweredAlert =
  | { message: number; outcome: "not_firing" }
  | { message: number; isRepeat: boolean; outcome: "duplicate"; claimedAtMs: number; url: string | null }
  | { message: number; isRepeat: boolean; outcome: "first"; issue: number; claimedAtMs: number };

function callsOf(requests: readonly (readonly Alert[])[], tries?: Tries): Encoded[][] {
  const calls: Encoded[][] = [];
  let bytes = 0;
  let count = 0;
  for (const alerts of requests) {
    const encoded = { alerts, json: JSON.stringify(alerts.map((alert) => encode(alert, tries))) };
    bytes += encoded.json.length;
    count += alerts.length;
    if (calls.length === 0 || bytes > CALL_BYTES || count > CALL_ALERTS) {
      calls.push([]);
      bytes = encoded.json.length;
      count = alerts.length;
    }
    calls.at(-1)!.push(encoded);
  }
  return calls;
}

function encode(alert: Alert, tries?: Tries) {
  const json = JSON.stringify(alert);
  const tried = tries?.message(alert);
  return {
    priority: priorityOf(alert),
    issue_key: storedKey(issueKey(alert.fingerprint)),
    fingerprint: storedText(alert.fingerprint),
    squad: alert.squad,
    alertname: alert.name === null ? null : storedText(alert.name),
    firing: alert.firing,
    resolved: alert.status === "resolved",
    issue_tried_at: tries?.issue(alert.fingerprint),
    tried: tried && takenUp(tried),
    starts_at: alert.startsAt === null ? null : storedText(alert.startsAt),
    is_urgent: isUrgent(alert),
    shown: JSON.stringify(shownAlert(alert)),
    alert: json,
    bytes: Buffer.byteLength(json),
  };
}

async function accept(
  link: StateLink,
  call: readonly Encoded[],
  { limits, comments, fate }: { limits: OutboxLimits; comments: boolean; fate: { mayBeKept: boolean } },
): Promise<Answer[]> {
  const batch = randomUUID();
  const requests = `[${call.map(({ json }) => json).join(",")}]`;
  const moreMs = ALERT_MS * call.reduce((count, { alerts }) => count + alerts.length, 0);
  const work = async (sql: Parameters<Parameters<StateLink["ask"]>[1]>[0]) => {
    const before = fate.mayBeKept;
    fate.mayBeKept = true;
    const [row] = await sql`
      select opsctl_state.accept(
        ${batch}::uuid, ${requests}::text::json, ${limits.rows}::bigint, ${limits.bytes}::bigint,
        ${ISSUE_TTL_MS}::bigint, ${comments}::boolean) as outcomes`.catch((error: unknown) => {
      if (wasNotDone(error)) fate.mayBeKept = before;
      throw error;
    });
    return JSON.parse(row!.outcomes) as Answer[];
  };
  return await link.ask("keep alerts", work, { moreMs, repeats: true });
}

const REFUSED: Answer = { refused: "state_unavailable" };

/** Whether nothing came back but that the database could not be asked. */
function isUnavailable(answer: Answer): boolean {
  return "refused" in answer && answer.refused === "state_unavailable" && answer.sqlState === undefined;
}

/** Whether a failed statement certainly changed nothing: it did not get there, or the server says that it failed. */
function wasNotDone(error: unknown): boolean {
  const { code, sqlState } = classifyDatabaseError(error);
  return code === "DATABASE_UNREACHABLE" || (sqlState !== undefined && !/^(?:08|25P|57P)/.test(sqlState));
}

function outcomeOf(answer: Answer, alerts: readonly Alert[], misfits: OutageLog): AcceptOutcome {
  if ("accepted" in answer)
    return { accepted: alerts.map((alert, at) => acceptedAlert(alert, answer.accepted[at]!)) };
  const { refused, sqlState, mayBeKept } = answer;
  if (sqlState !== undefined) misfits.failed({ sqlState });
  return mayBeKept === true && refused === "state_unavailable" ? { refused, mayBeKept } : { refused };
}

function acceptedAlert(alert: Alert, answer: AnsweredAlert): AcceptedAlert {
  const { message: messageRow, outcome } = answer;
  if (outcome === "not_firing") return { alert, messageRow, isRepeat: false, issue: { status: outcome } };
  const { isRepeat, claimedAtMs } = answer;
  if (outcome === "first")
    return { alert, messageRow, isRepeat, issue: { status: outcome, row: answer.issue, claimedAtMs } };
  const url = answer.url === null ? null : restoredText(answer.url);
  return { alert, messageRow, isRepeat, issue: { status: outcome, claimedAtMs, url } };
}
