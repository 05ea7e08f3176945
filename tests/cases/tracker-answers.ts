/**
 * What the issue tracker (Linear) answers, and what each answer becomes.
 *
 * Source: github.com/linear/linear at 8335e09 (`packages/sdk/src/error.ts`, `types.ts`) and bodies that public clients
 *         have recorded, read 2026-11-21.
 */
import type { IssueOutcome } from "../../lib/providers/issue-outcome.ts";
import type { Answer, Scripted } from "../standins/standin.ts";
import { trackerError } from "../standins/tracker.ts";
import { cases, page, type Row } from "./answer-case.ts";

/** The issue that is created; the answers name it. */
export const ISSUE_ID = "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11";
/** Its team. */
export const TEAM_ID = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";

const error = (status: number, extensions: Record<string, unknown>, message = "canary") =>
  trackerError(status, message, extensions);
const errors = (status: number, list: unknown, data: unknown = null): Answer => ({
  status,
  json: { errors: list, data },
});
const payload = (issueCreate: unknown): Answer => ({ status: 200, json: { data: { issueCreate } } });
const made = { id: ISSUE_ID, identifier: "ENG-1", url: "https://linear.app/example/issue/ENG-1" };
const conflict = (status: number, userPresentableMessage: string, message = "conflict on insert of Issue") =>
  error(status, { ...INPUT, userPresentableMessage }, message);
const retryAfter = (answer: Answer, seconds: number): Answer => ({
  ...answer,
  headers: { "retry-after": String(seconds) },
});

const AUTH = { type: "authentication error", code: "AUTHENTICATION_ERROR", statusCode: 401 };
const LIMIT = { type: "ratelimited", code: "RATELIMITED", statusCode: 429 };
const INPUT = { type: "invalid input", code: "INPUT_ERROR", statusCode: 400, userError: true };
const INTERNAL = { type: "internal error", code: "INTERNAL_SERVER_ERROR", statusCode: 500 };
const FEATURE = { type: "feature not accessible" };

const refused = (code: string, stopsChannel = false): IssueOutcome => ({
  status: "refused",
  code: `tracker_${code}`,
  stopsChannel,
});
const UNAUTHORIZED = refused("unauthorized", true);
const NO_INPUT = refused("input_refused");
const limited = (retryAfterMs: number): IssueOutcome => ({
  status: "throttled",
  code: "tracker_rate_limited",
  retryAfterMs,
});
const unknown = (code: string): IssueOutcome => ({ status: "unknown", code: `tracker_${code}` });
const NO_ISSUE = unknown("answer_without_issue");
const NOT_JSON = unknown("answer_unreadable");
const LOST = unknown("connection_lost");
const LATE = unknown("timeout");

/** Answers to a creation that prove that nothing was created. */
export const REFUSED_ISSUES = cases<IssueOutcome>([
  ["401 for the token", error(401, AUTH), UNAUTHORIZED, "webhook"],
  ["200 for the token", error(200, AUTH), UNAUTHORIZED],
  ["400 for the token", error(400, AUTH), UNAUTHORIZED],
  ["429 for the token", error(429, AUTH), UNAUTHORIZED],
  ["200 for the token, code alone", error(200, { code: AUTH.code }), UNAUTHORIZED],
  ["200 for the token, type alone", error(200, { type: AUTH.type }), UNAUTHORIZED],
  [
    "200 for the token, text alone",
    error(200, {}, "Authentication required, not authenticated"),
    UNAUTHORIZED,
  ],
  ["401 without a kind", error(401, {}), UNAUTHORIZED],
  ["403 forbidden", error(403, { type: "forbidden" }), refused("forbidden")],
  ["200 forbidden", error(200, { type: "forbidden" }), refused("forbidden")],
  ["403 without a kind", error(403, {}), refused("forbidden")],
  ["400 for the input", error(400, INPUT), NO_INPUT, "webhook"],
  ["200 for the input", error(200, INPUT), NO_INPUT],
  ["400 for the input, code alone", error(400, { code: INPUT.code }), NO_INPUT],
  ["400 for the input, naming our id", conflict(400, `Bad id ${ISSUE_ID}`, "Argument error"), NO_INPUT],
  [
    "400, a conflict of another entity",
    conflict(400, `Entity with id ${ISSUE_ID} exists`, "conflict on insert of IssueLabel"),
    NO_INPUT,
  ],
  ["400 for the query", error(400, { code: "GRAPHQL_VALIDATION_FAILED" }), refused("query_refused")],
  ["400 for the query, type alone", error(400, { type: "graphql error" }), refused("query_refused")],
  [
    "400 for the plan's limit",
    error(400, { type: "usage limit exceeded", code: INPUT.code }),
    refused("usage_limit"),
    "webhook",
  ],
  ["200 for the plan's limit", error(200, { type: "usage limit exceeded" }), refused("usage_limit")],
  ["400 for the plan's features", error(400, FEATURE), refused("feature_not_accessible")],
  ["200 for the plan's features", error(200, FEATURE), refused("feature_not_accessible")],
  ["422 for the user", error(422, { type: "user error" }), refused("user_error")],
  ["two refusals", errors(400, [{ extensions: INPUT }, { extensions: AUTH }]), NO_INPUT],
  ["a refusal and no result", errors(200, [{ extensions: INPUT }], { issueCreate: null }), NO_INPUT],
  ["400 for the rate", retryAfter(error(400, LIMIT), 9), limited(9_000), "webhook"],
  ["429 for the rate", retryAfter(error(429, LIMIT), 9), limited(9_000)],
  ["200 for the rate", error(200, LIMIT), limited(1_000)],
  ["400 for the rate, code alone", error(400, { code: LIMIT.code }), limited(1_000)],
  ["400 for the rate, type alone", error(400, { type: LIMIT.type }), limited(1_000)],
  ["429 without a kind", error(429, {}), limited(1_000)],
  ["429 of a proxy", retryAfter(page(429), 2), limited(2_000)],
]);

const exists = (id: string) => `Entity Issue with id ${id} already exists.`;

/** Answers to a creation that prove that an earlier call created the issue. */
export const CONFLICTS: [name: string, answer: Answer][] = [
  ["400", conflict(400, exists(ISSUE_ID))],
  ["200", conflict(200, exists(ISSUE_ID))],
  ["500", conflict(500, exists(ISSUE_ID))],
  ["400 with the id in capitals", conflict(400, exists(ISSUE_ID.toUpperCase()))],
  ["400 with more text", conflict(400, `Entity ${ISSUE_ID}`, "conflict on insert of Issue - canary")],
];

const status = (...codes: number[]): Row<IssueOutcome>[] =>
  codes.map((code) => [`${code} of a proxy`, page(code), unknown(`http_${code}`)]);

/** Answers to a creation that leave it open whether the issue exists: it is created again with the same id. */
export const UNCLEAR_ISSUES = cases<IssueOutcome>([
  ["400, a conflict with another id", conflict(400, exists("x")), unknown("conflict_unclear")],
  ["400, lock timeout", error(400, { type: "lock timeout" }), unknown("lock_timeout")],
  ["200, internal error", error(200, INTERNAL), unknown("internal_error")],
  ["400, internal error", error(400, { type: INTERNAL.type }), unknown("internal_error")],
  ["400, internal error, code alone", error(400, { code: INTERNAL.code }), unknown("internal_error")],
  ["400, internal error as input", error(400, { ...INTERNAL, code: INPUT.code }), unknown("internal_error")],
  ["401, internal error", error(401, { type: INTERNAL.type }), unknown("internal_error")],
  ["400, network error", error(400, { type: "network error" }), unknown("network_error")],
  ["200, unknown", error(200, { type: "unknown" }), unknown("error_unknown")],
  ["200, other", error(200, { type: "other" }), unknown("error_unknown")],
  ["200 without a kind", error(200, {}), unknown("error_unknown")],
  ["200, an inherited name", error(200, { type: "toString", code: "constructor" }), unknown("error_unknown")],
  ["400 without a kind", error(400, {}), unknown("http_400")],
  [
    "a refusal and a fault",
    errors(400, [{ extensions: INPUT }, { extensions: INTERNAL }]),
    unknown("internal_error"),
  ],
  ["errors that are no list", errors(200, "canary"), NOT_JSON],
  ["errors of nothing", errors(200, [null]), unknown("error_unknown")],
  ["a refusal beside a result", errors(200, [{ extensions: INPUT }], { issueCreate: {} }), NOT_JSON],
  [
    "an error beside a result",
    errors(200, [{}], { issueCreate: { success: true, issue: made } }),
    unknown("error_unknown"),
  ],
  ["success false", payload({ success: false, issue: made }), NO_ISSUE],
  ["success as text", payload({ success: "true", issue: made }), NO_ISSUE],
  ["no success", payload({ issue: made }), NO_ISSUE],
  ["no issue", payload({ success: true, issue: null }), NO_ISSUE],
  ["another issue", payload({ success: true, issue: { ...made, id: TEAM_ID } }), NO_ISSUE],
  ["no result", payload(null), NO_ISSUE],
  ["no data", { status: 200, json: {} }, NOT_JSON],
  ["data null", { status: 200, json: { data: null } }, NOT_JSON],
  ["201 with a result", { ...payload({ success: true, issue: made }), status: 201 }, unknown("http_201")],
  ["500 with a result", { ...payload({ success: true, issue: made }), status: 500 }, unknown("http_500")],
  ["500 with a refusal", error(500, INPUT), unknown("http_500"), "webhook"],
  ["408 with a refusal", error(408, INPUT), unknown("http_408")],
  ["409 with a refusal", error(409, INPUT), unknown("http_409")],
  ...status(302, 307, 400, 401, 403, 404, 500, 502, 503),
  ["a page", "not_json", NOT_JSON],
  ["a list", { status: 200, json: [] }, NOT_JSON],
  ["an empty body", { status: 200, text: "" }, NOT_JSON],
  ["4 MiB of blanks", "huge", NOT_JSON],
  ["4 MiB of blanks, compressed", "bomb", NOT_JSON],
  ["no answer", "hang", LATE, "webhook"],
  ["half an answer, then silence", "stall_body", LATE],
  ["half an answer, then closed", "break_body", LOST],
  ["closed after the request", "drop", LOST, "webhook"],
  ["an answer that is not HTTP", "not_http", LOST],
]);

/** Answers to the question whether token and team are accepted; each becomes the code of what is wrong. */
export const ACCESS_ANSWERS = cases<string | null>([
  ["viewer and team", access({ id: "u" }, [{ id: TEAM_ID }]), null],
  ["no team", access({ id: "u" }, []), "tracker_team_missing", "doctor"],
  ["no list of teams", access({ id: "u" }, null), "tracker_answer_unreadable"],
  ["no viewer", access(null, [{ id: TEAM_ID }]), "tracker_answer_unreadable"],
  ["401 for the token", error(401, AUTH), "tracker_unauthorized", "doctor"],
  ["200 for the token", error(200, AUTH), "tracker_unauthorized"],
  ["403 forbidden", error(403, { type: "forbidden" }), "tracker_forbidden"],
  ["400 for the rate", error(400, LIMIT), "tracker_rate_limited"],
  ["502 of a proxy", page(502), "tracker_http_502"],
  ["a page", "not_json", "tracker_answer_unreadable"],
  ["no answer", "hang", "tracker_timeout"],
  ["nobody listens", "nobody_listens", "tracker_unreachable"],
]);

function access(viewer: unknown, nodes: unknown): Scripted {
  return { status: 200, json: { data: { viewer, teams: { nodes } } } };
}
