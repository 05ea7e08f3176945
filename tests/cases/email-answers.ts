/**
 * What the e-mail provider (Resend) answers, and what each answer becomes.
 *
 * Source: resend.com/docs/api-reference/errors, resend/resend-openapi at fd6f395, resend/resend-rust at 70ca6fe, and
 *         answers that integrators recorded, read 2026-11-21.
 */
import type { KeyState } from "../../lib/providers/resend/key.ts";
import type { SendOutcome } from "../../lib/providers/send-outcome.ts";
import type { Answer } from "../standins/standin.ts";
import { cases, page, type Row } from "./answer-case.ts";

/** The recipient that some answers name; no outcome and no log may name it. */
export const RECIPIENT = "ana@client.example";

/** An error in the provider's form. */
export const emailError = (status: number, name: string, message = `no, ${RECIPIENT}`): Answer => ({
  status,
  json: { statusCode: status, name, message },
});

const failed = (code: string): SendOutcome => ({ status: "failed", code, stopsChannel: false });
const stopped = (code: string): SendOutcome => ({ status: "failed", code, stopsChannel: true });
const limited = (code: string, retryAfterMs: number): SendOutcome => ({
  status: "throttled",
  code,
  retryAfterMs,
});
const unknown = (code: string): SendOutcome => ({ status: "unknown", code });

const NO_ID = unknown("email_answer_without_id");
const NOT_JSON = unknown("email_answer_unreadable");
const LOST = unknown("email_connection_lost");
const LATE = unknown("email_timeout");
const WRONG_KEY = "API key is invalid";
const KEY_REFUSED = stopped("email_api_key_invalid");
const UNVERIFIED = "The mail.example domain is not verified. Please, add and verify your domain";
const after = (seconds: number) => ({ headers: { "retry-after": String(seconds) } });

/** Errors whose name is the code. */
const named = (...errors: [status: number, name: string][]): Row<SendOutcome>[] =>
  errors.map(([status, name]) => [`${status} ${name}`, emailError(status, name), failed(name)]);
/** The same of errors that leave it open whether the e-mail was accepted. */
const ambiguous = (...errors: [status: number, name: string][]): Row<SendOutcome>[] =>
  errors.map(([status, name]) => [`${status} ${name}`, emailError(status, name), unknown(name)]);

/** Answers to an e-mail that is to be sent. */
export const EMAIL_ANSWERS = cases<SendOutcome>([
  ["200 with an id", { status: 200, json: { id: "7d1f" } }, { status: "sent", providerMessageId: "7d1f" }],
  ["200 without an id", { status: 200, json: {} }, NO_ID, "run"],
  ["200 with an empty id", { status: 200, json: { id: "" } }, NO_ID],
  ["200 with a number for an id", { status: 200, json: { id: 7 } }, NO_ID],
  ["202 without a body", { status: 202 }, NOT_JSON],
  ["400 for a revoked key", emailError(400, "validation_error", WRONG_KEY), KEY_REFUSED],
  ["401 for a wrong key", emailError(401, "validation_error", WRONG_KEY), KEY_REFUSED],
  ["403 for a wrong key", emailError(403, "validation_error", WRONG_KEY), KEY_REFUSED],
  ["403 for an invalid key", emailError(403, "invalid_api_key"), KEY_REFUSED, "webhook"],
  ["403 for a suspended key", emailError(403, "suspended_api_key"), stopped("suspended_api_key")],
  ["403 for a key without permission", emailError(403, "invalid_permission"), stopped("invalid_permission")],
  [
    "403 for a domain that is not verified",
    emailError(403, "validation_error", UNVERIFIED),
    failed("email_sender_domain_unverified"),
    "run",
  ],
  ["403 of the sandbox", emailError(403, "validation_error"), failed("validation_error")],
  ["403 of the edge", { status: 403, text: "error code: 1010" }, failed("email_http_403")],
  ...named(
    [400, "invalid_idempotency_key"],
    [400, "validation_error"],
    [401, "missing_api_key"],
    [401, "restricted_api_key"],
    [404, "not_found"],
    [405, "method_not_allowed"],
    [422, "missing_required_field"],
    [422, "missing_required_parameter"],
    [422, "invalid_attachment"],
    [422, "invalid_parameter"],
    [422, "invalid_from_address"],
    [451, "security_error"],
  ),
  ["422 validation_error", emailError(422, "validation_error"), failed("validation_error"), "run", "e2e"],
  ["422 with a name that is none", emailError(422, `Bad ${RECIPIENT}`), failed("email_http_422")],
  ["422 of a proxy", page(422), failed("email_http_422")],
  ["413 of a proxy", page(413), failed("email_http_413")],
  ["408", emailError(408, "validation_error"), unknown("validation_error")],
  [
    "409, the first call with this key is running",
    emailError(409, "concurrent_idempotent_requests"),
    unknown("concurrent_idempotent_requests"),
    "run",
    "e2e",
  ],
  ...ambiguous(
    [409, "invalid_idempotent_request"],
    [409, "resource_locked"],
    [500, "application_error"],
    [500, "internal_server_error"],
    [503, "service_unavailable"],
  ),
  [
    "429, too fast",
    { ...emailError(429, "rate_limit_exceeded"), ...after(1) },
    limited("rate_limit_exceeded", 1_000),
    "run",
    "e2e",
  ],
  ["429 of the edge", { status: 429, text: "", ...after(9) }, limited("email_http_429", 9_000)],
  ["429, no wait named", emailError(429, "rate_limit_exceeded"), limited("rate_limit_exceeded", 1_000)],
  ["429, the day's quota", emailError(429, "daily_quota_exceeded"), stopped("daily_quota_exceeded")],
  ["429, the month's quota", emailError(429, "monthly_quota_exceeded"), stopped("monthly_quota_exceeded")],
  ["307", { status: 307, headers: { location: "/" } }, unknown("email_http_307")],
  ["502 of a proxy", page(502), unknown("email_http_502"), "run"],
  ["a page instead of an answer", "not_json", NOT_JSON, "e2e"],
  ["4 MiB of blanks", "huge", NOT_JSON],
  ["4 MiB of blanks, compressed", "bomb", NOT_JSON],
  ["no answer", "hang", LATE],
  ["accepted, and no answer", { accept: "hang" }, LATE, "run"],
  ["half an answer, then silence", "stall_body", LATE],
  ["half an answer, then closed", "break_body", LOST],
  ["closed after the request", "drop", LOST],
  ["closed before the request was read", "drop_unread", LOST],
  ["accepted, then closed", { accept: "drop" }, LOST, "run"],
  ["an answer that is not HTTP", "not_http", LOST],
  ["nobody listens", "nobody_listens", failed("email_unreachable"), "run", "e2e"],
]);

const accepted: KeyState = { status: "accepted" };
const refused = (code: string): KeyState => ({ status: "refused", code });
const unclear = (code: string): KeyState => ({ status: "unclear", code });
const INVALID = refused("email_api_key_invalid");

/** Answers to the question for the account's domains, by which a key is known without a send. */
export const EMAIL_KEY_ANSWERS = cases<KeyState>([
  ["the domains", { status: 200, json: { data: [] } }, accepted],
  ["401 for a key that may only send", emailError(401, "restricted_api_key"), accepted],
  ["400 for a revoked key", emailError(400, "validation_error", WRONG_KEY), INVALID],
  ["401 for a wrong key", emailError(401, "validation_error", WRONG_KEY), INVALID, "doctor"],
  ["403 for an invalid key", emailError(403, "invalid_api_key"), refused("invalid_api_key")],
  ["403 for a suspended key", emailError(403, "suspended_api_key"), refused("suspended_api_key")],
  ["403 for a key without permission", emailError(403, "invalid_permission"), refused("invalid_permission")],
  ["403 of another kind", emailError(403, "validation_error"), unclear("email_http_403")],
  ["500", emailError(500, "application_error"), unclear("email_http_500"), "doctor"],
  ["503 of a proxy", page(503), unclear("email_http_503"), "doctor"],
  ["a page", "not_json", unclear("email_answer_unreadable")],
  ["no answer", "hang", unclear("email_timeout")],
  ["closed", "drop", unclear("email_connection_lost")],
  ["nobody listens", "nobody_listens", unclear("email_unreachable")],
]);
