import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";
import { readTrackerError, type TrackerError } from "./error.ts";
import { trackerRetryMs } from "./retry-after.ts";

/**
 * What the tracker said of a call.
 *
 * Shape: `data` came with HTTP 200 and without an error; `exists` means that an earlier call created it;
 *        `refused`, `not_sent` and `throttled` prove that nothing was done, and `throttled` may be repeated; `unclear`
 *        proves nothing.
 */
export type TrackerAnswer =
  | { status: "data"; data: unknown }
  | { status: "exists" }
  | { status: "refused"; code: string; stopsChannel: boolean }
  | { status: "throttled"; code: string; retryAfterMs: number }
  | { status: "not_sent"; code: string }
  | { status: "unclear"; code: string };

/** What the result of a call means; `id` is what the call creates, null for a call that reads. */
export function readTrackerCall(result: CallResult, id: string | null, nowMs: number): TrackerAnswer {
  if (result.status === "not_sent") return { status: "not_sent", code: codeOfCall("tracker", result) };
  if (result.answer === null || result.problem !== null) {
    return { status: "unclear", code: codeOfCall("tracker", result) };
  }
  return readTrackerAnswer(result.answer, id, nowMs);
}

/**
 * What a whole answer means: by its errors, and by its status only without them, because the same error comes with
 * different statuses, HTTP 200 included.
 *
 * Behaviour: a sign that something may have been done outweighs every refusal.
 */
export function readTrackerAnswer(answer: PeerAnswer, id: string | null, nowMs: number): TrackerAnswer {
  const { status, json, headers } = answer;
  const list = member(json, "errors") ?? [];
  const errors = Array.isArray(list) ? list.map((error) => readTrackerError(error, status, id)) : [];
  const isClean = Array.isArray(list) && errors.length === 0;
  if (status === 200 && isClean && isObject(member(json, "data"))) {
    return { status: "data", data: member(json, "data") };
  }
  if (errors.some(({ status }) => status === "exists")) return { status: "exists" };
  if (errors.some(({ status }) => status === "throttled") || (isClean && status === 429)) {
    return {
      status: "throttled",
      code: "tracker_rate_limited",
      retryAfterMs: trackerRetryMs(headers, nowMs),
    };
  }
  return refusalOf(answer, errors) ?? { status: "unclear", code: unclearCode(status, errors) };
}

function refusalOf({ status, json }: PeerAnswer, errors: TrackerError[]): TrackerAnswer | null {
  const [first] = errors;
  if (first?.status !== "refused" || !errors.every(({ status }) => status === "refused")) return null;
  return mayRefuse(status) && !hasResult(json) ? first : null;
}

function mayRefuse(status: number): boolean {
  return status === 200 || (status >= 400 && status <= 499 && status !== 408 && status !== 409);
}

// The issue may have been created although one of the fields asked for failed.
function hasResult(json: unknown): boolean {
  const data = member(json, "data");
  return isObject(data) && Object.values(data).some((value) => value !== null);
}

function unclearCode(status: number, errors: TrackerError[]): string {
  const said = errors.find((error) => error.status === "unclear");
  if (said !== undefined) return said.code;
  return status === 200 ? "tracker_answer_unreadable" : `tracker_http_${status}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
