/** The application: analyses the week of each connection and writes the editorials, when the weekly run asks for it. */
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

/** How an analysis call ended; `refusesWorker` means that every other call would be refused too. */
export type AnalysisOutcome = { status: "ok" } | { status: "failed"; code: string; refusesWorker: boolean };

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
 * Errors:    none thrown; APP_HTTP_<status>, APP_TIMEOUT, APP_UNREACHABLE, APP_ABORTED and WORKER_HTTP_<status>,
 *            WORKER_TIMEOUT, WORKER_UNREACHABLE, WORKER_ABORTED, WORKER_ANSWER_INVALID,
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

  function post({ path, secret, body, timeoutMs, signal }: RouteCall) {
    const url = peerUrl(baseUrl, path.split("/"));
    const headers = { authorization: `Bearer ${secret.open()}` };
    return callPeer({ peer: "application", method: "POST", url, headers, body, timeoutMs, signal, onCall });
  }

  return {
    async analyzeWeek(input, signal) {
      const { tenantId, userId, connectionId, windowStart, windowEnd } = input;
      const body = { tenantId, userId, connectionId, windowStart, windowEnd };
      const timeoutMs = timeoutsMs?.analysis ?? ANALYSIS_TIMEOUT_MS;
      const path = "api/v1/social/analytics/weekly";
      const result = await post({ path, secret: triggerSecret, body, timeoutMs, signal });
      return analysisOutcome(result);
    },
    async drainEditorials({ cursor, maxLlmCalls }, signal) {
      if (editorialSecret === null)
        return { status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING" };
      const body = { cursor: cursor ?? null, batchSize: EDITORIAL_BATCH_SIZE, maxLlmCalls };
      const timeoutMs = timeoutsMs?.editorial ?? EDITORIAL_TIMEOUT_MS;
      const path = "api/v1/cron/social-editorials";
      const result = await post({ path, secret: editorialSecret, body, timeoutMs, signal });
      return editorialOutcome(result);
    },
  };
}

type RouteCall = {
  path: string;
  secret: Secret;
  body: unknown;
  timeoutMs: number;
  signal: AbortSignal | undefined;
};

// The body is not used: a status counts even when the body broke off. An answer that did not end within the limit is a
// time-out, unless its status is a refusal.
function analysisOutcome(result: CallResult): AnalysisOutcome {
  const status = result.answer?.status;
  const success = status !== undefined && status >= 200 && status <= 299;
  if (success && result.problem !== "timeout" && result.problem !== "aborted") return { status: "ok" };
  const code = status === undefined || success ? `APP_${lostBecause(result)}` : `APP_HTTP_${status}`;
  return { status: "failed", code, refusesWorker: status === 401 || status === 409 };
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

function lostBecause(result: CallResult): string {
  if (result.problem === "timeout") return "TIMEOUT";
  return result.problem === "aborted" ? "ABORTED" : "UNREACHABLE";
}
