import { member } from "../../platform/http/answer.ts";

/**
 * What one entry of an answer's `errors` means.
 *
 * Shape: `refused` and `throttled` prove that nothing was done, `exists` that an earlier call created it;
 *        `unclear` proves nothing.
 */
export type TrackerError =
  | { status: "refused"; code: string; stopsChannel: boolean }
  | { status: "throttled" }
  | { status: "exists" }
  | { status: "unclear"; code: string };

const refused = (code: string, stopsChannel = false): TrackerError => ({
  status: "refused",
  code,
  stopsChannel,
});
const unclear = (code: string): TrackerError => ({ status: "unclear", code });

const UNAUTHORIZED = refused("tracker_unauthorized", true);
const FORBIDDEN = refused("tracker_forbidden");
const THROTTLED: TrackerError = { status: "throttled" };
const INPUT_REFUSED = refused("tracker_input_refused");
const QUERY_REFUSED = refused("tracker_query_refused");
const INTERNAL = unclear("tracker_internal_error");

const BY_CODE = new Map<unknown, TrackerError>([
  ["AUTHENTICATION_ERROR", UNAUTHORIZED],
  ["RATELIMITED", THROTTLED],
  ["GRAPHQL_VALIDATION_FAILED", QUERY_REFUSED],
  ["INTERNAL_SERVER_ERROR", INTERNAL],
]);

const BY_TYPE = new Map<unknown, TrackerError>([
  ["authentication error", UNAUTHORIZED],
  ["forbidden", FORBIDDEN],
  ["ratelimited", THROTTLED],
  ["invalid input", INPUT_REFUSED],
  ["graphql error", QUERY_REFUSED],
  ["usage limit exceeded", refused("tracker_usage_limit")],
  ["feature not accessible", refused("tracker_feature_not_accessible")],
  ["user error", refused("tracker_user_error")],
  ["lock timeout", unclear("tracker_lock_timeout")],
  ["internal error", INTERNAL],
  ["network error", unclear("tracker_network_error")],
  ["unknown", unclear("tracker_error_unknown")],
  ["other", unclear("tracker_error_unknown")],
]);

const BY_STATUS = new Map([
  [401, UNAUTHORIZED],
  [403, FORBIDDEN],
  [429, THROTTLED],
]);

/**
 * Judges one error: by its code, then its type, and by the status only when neither is known.
 *
 * Shape:     `id` is what the call creates, an issue or a comment; null for a call that reads.
 * Behaviour: `INPUT_ERROR` is the code of many types, so there a known type decides. The error's texts are compared and
 *            not kept.
 * Source:    github.com/linear/linear at 8335e09, `packages/sdk/src/error.ts` and `types.ts`, and bodies that public
 *            clients have recorded, read 2026-11-21.
 */
export function readTrackerError(error: unknown, status: number, id: string | null): TrackerError {
  const message = textOf(member(error, "message"));
  const extensions = member(error, "extensions");
  const code = member(extensions, "code");
  if (/^conflict on insert of (?:Issue|Comment)\b/.test(message)) {
    return isNamed(id, extensions) ? { status: "exists" } : unclear("tracker_conflict_unclear");
  }
  return (
    BY_CODE.get(code) ??
    BY_TYPE.get(textOf(member(extensions, "type")).toLowerCase()) ??
    (code === "INPUT_ERROR" ? INPUT_REFUSED : null) ??
    (/^authentication required, not authenticated/i.test(message) ? UNAUTHORIZED : null) ??
    BY_STATUS.get(status) ??
    unclear(status === 200 ? "tracker_error_unknown" : `tracker_http_${status}`)
  );
}

function isNamed(id: string | null, extensions: unknown): boolean {
  const text = textOf(member(extensions, "userPresentableMessage")).toLowerCase();
  return id !== null && text.includes(id.toLowerCase());
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 1_000) : "";
}
