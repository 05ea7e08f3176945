import type { CallResult } from "../platform/http.ts";
import { member, type PeerAnswer } from "../platform/http-answer.ts";
import { trackerRetryMs } from "./linear-rate.ts";
import { codeOfCall } from "./send-outcome.ts";

/**
 * What the tracker said of a call.
 *
 * Shape: `data` came with HTTP 200 and no error; `exists` means that an earlier call has created the issue; `refused`
 *        and `not_sent` prove that nothing was done; `throttled` too, and may be repeated; `unclear` proves nothing.
 */
export type TrackerAnswer =
  | { says: "data"; data: unknown }
  | { says: "exists" }
  | { says: "refused"; code: string; stopsIssues: boolean }
  | { says: "throttled"; code: string; retryAfterMs: number }
  | { says: "not_sent"; code: string }
  | { says: "unclear"; code: string };

/** What the end of a call says; `id` is the issue that the call creates, null for one that reads. */
export function readTrackerCall(result: CallResult, id: string | null, nowMs: number): TrackerAnswer {
  if (result.class === "not_sent") return { says: "not_sent", code: codeOfCall("tracker", result) };
  if (result.answer === null || result.problem !== null) {
    return { says: "unclear", code: codeOfCall("tracker", result) };
  }
  return readTrackerAnswer(result.answer, id, nowMs);
}

/**
 * What an answer says: its errors first, by code and by type, and the status last, since both an error and a success
 * may come as HTTP 200 and the same error with different statuses.
 *
 * Shape:  messages are compared and dropped, never kept. A sign that the issue may have been created outweighs a
 *         refusal.
 * Source: github.com/linear/linear at 8335e09, `packages/sdk/src/error.ts` and `types.ts`, and bodies that public
 *         clients have recorded, read 2026-11-21.
 */
export function readTrackerAnswer(answer: PeerAnswer, id: string | null, nowMs: number): TrackerAnswer {
  const { status, json, headers } = answer;
  const errors = member(json, "errors") ?? [];
  if (!Array.isArray(errors)) return { says: "unclear", code: codeOfStatus(status) };
  if (id !== null && errors.some((error) => isConflict(error) && namesIssue(error, id)))
    return { says: "exists" };
  if (errors.length === 0 && status === 200 && isObject(member(json, "data"))) {
    return { says: "data", data: member(json, "data") };
  }
  const meanings = errors.length === 0 ? [meaningOf(undefined, status)] : errors.map((e) => meaningOf(e, status));
  if (meanings.includes("throttled")) {
    return { says: "throttled", code: "tracker_rate_limited", retryAfterMs: trackerRetryMs(headers, nowMs) };
  }
  const unclear = meanings.find((meaning) => typeof meaning === "object" && meaning.says === "unclear");
  const meaning = unclear ?? meanings[0];
  if (typeof meaning === "object" && mayRefuse(answer, meaning)) return meaning;
  return { says: "unclear", code: codeOfStatus(status) };
}
