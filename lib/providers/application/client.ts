/** The application: analyses the week of each connection and writes the editorials, when the weekly run asks for it. */
import type { PeerAnswer } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { type EditorialAnswer, parseEditorialAnswer } from "./editorial-answer.ts";

export type { EditorialAnswer } from "./editorial-answer.ts";

/** The week of one connection to be analysed; instants are UTC with `Z`. */
export type WeekAnalysis = {
  tenantId: string;
  userId: string;
  connectionId: string;
  windowStart: string;
  windowEnd: string;
};

/**
 * What a failed analysis call says.
 *
 * Shape: `may_heal`: the application is away or overloaded, the same call may succeed a little later; `refused` (401,
 *        409): either the worker's secret or day, or this connection alone; `lasting`: this connection fails.
 */
export type AnalysisFailure = "may_heal" | "refused" | "lasting";

/** How an analysis call ended; `retryAfterMs` is how long a throttled one (429) was asked to wait, else null. */
export type AnalysisOutcome =
  | { status: "ok" }
  | { status: "failed"; code: string; failure: AnalysisFailure; retryAfterMs: number | null };

/** How one call of the editorial route ended. */
export type EditorialOutcome = { status: "ok"; answer: EditorialAnswer } | { status: "failed"; code: string };

/** The two routes of the application that the weekly run calls; no call is repeated here. */
export type ApplicationClient = {
  analyzeWeek(input: WeekAnalysis, signal?: AbortSignal): Promise<AnalysisOutcome>;
  drainEditorials(
    input: { cursor: unknown; maxLlmCalls: number },
    signal?: AbortSignal,
  ): Promise<EditorialOutcome>;
};

const ANALYSIS_TIMEOUT_MS = 60_000;
const EDITORIAL_TIMEOUT_MS = 120_000;
const EDITORIAL_BATCH_SIZE = 3;

/**
 * The client of the application.
 *
 * Behaviour: each route has its own bearer secret, never used for the other.
 * Errors:    none thrown; APP_HTTP_<status>, APP_TIMEOUT, APP_UNREACHABLE, APP_ABORTED, APP_ANSWER_INVALID and
 *            WORKER_HTTP_<status>, WORKER_TIMEOUT, WORKER_UNREACHABLE, WORKER_ABORTED, WORKER_ANSWER_INVALID,
 *            SOCIAL_EDITORIALS_CRON_SECRET_MISSING come as codes.
 * Source:    weekly report document, Endpoints and Authentication.
 */
export function applicationClient(options: {
  baseUrl: URL;
  triggerSecret: Secret;
  editorialSecret: Secret | null;
  timeoutsMs?: { analysis?: number; editorial?: number };
  onCall?: (record: CallRecord) => void;
}): ApplicationClient {
  const { baseUrl, triggerSecret, editorialSecret, timeoutsMs, onCall } = options;
  const analysisUrl = peerUrl(baseUrl, ["api", "v1", "social", "analytics", "weekly"]);
  const editorialUrl = peerUrl(baseUrl, ["api", "v1", "cron", "social-editorials"]);

  function post({ url, secret, body, timeoutMs, signal }: RouteCall) {
    const headers = { authorization: `Bearer ${secret.open()}` };
    return callPeer({ peer: "application", method: "POST", url, headers, body, timeoutMs, signal, onCall });
  }

  return {
    async analyzeWeek(input, signal) {
      const { tenantId, userId, connectionId, windowStart, windowEnd } = input;
      const body = { tenantId, userId, connectionId, windowStart, windowEnd };
      const timeoutMs = timeoutsMs?.analysis ?? ANALYSIS_TIMEOUT_MS;
      const result = await post({ url: analysisUrl, secret: triggerSecret, body, timeoutMs, signal });
      return analysisOutcome(result);
    },
    async drainEditorials({ cursor, maxLlmCalls }, signal) {
      if (editorialSecret === null)
        return { status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING" };
      const body = { cursor: cursor ?? null, batchSize: EDITORIAL_BATCH_SIZE, maxLlmCalls };
      const timeoutMs = timeoutsMs?.editorial ?? EDITORIAL_TIMEOUT_MS;
      const result = await post({ url: editorialUrl, secret: editorialSecret, body, timeoutMs, signal });
      return editorialOutcome(result);
    },
  };
}

type RouteCall = {
  url: URL | null;
  secret: Secret;
  body: unknown;
  timeoutMs: number;
  signal: AbortSignal | undefined;
};

// The body is not used: a status counts even when the body broke off. An answer that did not end within the limit is a
// time-out, unless its status is a refusal. A page comes from a proxy or a login form, whatever its status says.
function analysisOutcome(result: CallResult): AnalysisOutcome {
  const { answer, problem } = result;
  const success = answer !== null && answer.status >= 200 && answer.status <= 299;
  const endedEarly = problem === "timeout" || problem === "aborted";
  if (answer === null || (success && endedEarly))
    return failed(`APP_${lostBecause({ problem })}`, "may_heal");
  const retryAfterMs = result.status === "throttled" ? result.retryAfterMs : null;
  if (!success) return failed(`APP_HTTP_${answer.status}`, failureOf(answer.status), retryAfterMs);
  return isPage(answer) ? failed("APP_ANSWER_INVALID", "may_heal") : { status: "ok" };
}

/** What every page begins with, after blanks and a byte order mark: a tag, a declaration or a comment. */
const FIRST_TAG = /^[\s\uFEFF]*<[a-z!?]/i;

/** Whether an answer is a page for people: by its type, or by how its body begins, as far as there is one. */
function isPage({ headers, text }: PeerAnswer): boolean {
  const type = headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  return type === "text/html" || type === "application/xhtml+xml" || FIRST_TAG.test(text ?? "");
}

function failed(code: string, failure: AnalysisFailure, retryAfterMs: number | null = null): AnalysisOutcome {
  return { status: "failed", code, failure, retryAfterMs };
}

function failureOf(status: number): AnalysisFailure {
  if (status === 401 || status === 409) return "refused";
  return status === 408 || status === 429 || status >= 500 ? "may_heal" : "lasting";
}

function editorialOutcome(result: CallResult): EditorialOutcome {
  const status = result.answer?.status;
  if (status !== undefined && (status < 200 || status > 299))
    return { status: "failed", code: `WORKER_HTTP_${status}` };
  if (result.problem === "answer_too_large") return { status: "failed", code: "WORKER_ANSWER_INVALID" };
  if (result.problem !== null) return { status: "failed", code: `WORKER_${lostBecause(result)}` };
  const answer = parseEditorialAnswer(result.answer?.json);
  return answer === null ? { status: "failed", code: "WORKER_ANSWER_INVALID" } : { status: "ok", answer };
}

function lostBecause({ problem }: Pick<CallResult, "problem">): string {
  if (problem === "timeout") return "TIMEOUT";
  return problem === "aborted" ? "ABORTED" : "UNREACHABLE";
}
