import * as v from "valibot";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** What became of a post: `refused` is proved not to be accepted, `unknown` may have been. */
export type PostOutcome = { status: "accepted" } | { status: "refused" | "unknown"; cause: string };

/** How the webhook is called; `limitMs` covers all attempts together. */
export type PostDependencies = {
  url: URL;
  secret: Secret;
  limitMs: number;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** A webhook that restarts is back within seconds. */
const PAUSE_MS = 2_000;

const answerSchema = v.object({ alerts: v.tuple([v.object({ fingerprint: v.string() })]) });

/**
 * Posts one alert to the webhook.
 *
 * Behaviour: repeats, within the limit, only what provably was not accepted and may be over in a moment: no connection,
 *            429, 503. An answer that does not name the alert is no acceptance.
 * Errors:    none thrown.
 */
export async function postAlert(
  dependencies: PostDependencies,
  alert: { fingerprint: string },
): Promise<PostOutcome> {
  const { limitMs, monotonicMs, sleep } = dependencies;
  const deadlineMs = monotonicMs() + limitMs;
  for (;;) {
    const result = await callOnce(dependencies, alert, Math.max(1, deadlineMs - monotonicMs()));
    if (!mayBeOverSoon(result) || monotonicMs() + PAUSE_MS >= deadlineMs) return outcomeOf(result, alert);
    await sleep(PAUSE_MS);
  }
}

async function callOnce(
  { url, secret, onCall }: PostDependencies,
  body: object,
  timeoutMs: number,
): Promise<CallResult> {
  const headers = { "x-webhook-secret": secret.open() };
  const definitive = () => true;
  return await callPeer({
    peer: "webhook",
    method: "POST",
    url,
    headers,
    body,
    timeoutMs,
    definitive,
    onCall,
  });
}

function mayBeOverSoon({ status, answer }: CallResult): boolean {
  return status === "not_sent" || (status === "rejected" && (answer.status === 503 || answer.status === 429));
}

function outcomeOf(result: CallResult, { fingerprint }: { fingerprint: string }): PostOutcome {
  const { status, answer, problem } = result;
  if (status === "answered") {
    const parsed = v.safeParse(answerSchema, answer.json);
    const isOurs = parsed.success && parsed.output.alerts[0].fingerprint === fingerprint;
    return isOurs ? { status: "accepted" } : { status: "unknown", cause: "answer_unreadable" };
  }
  const cause = problem ?? (answer === null ? "unreachable" : `http_${answer.status}`);
  return { status: status === "ambiguous" ? "unknown" : "refused", cause };
}
