/** Each row of the tracker's error table: its answer, whether the issue may exist then, and what opsctl makes of it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { type Answer, hasExactly } from "../../standins/standin.ts";
import { startTracker, type Tracker, trackerError } from "../../standins/tracker.ts";

const TOKEN = "lin_api_canary";
const TEAM = "5b6b1a4e-9c0f-4e55-8a35-0d6a5d0d7c01";
const ID = "3f2b9c1e-7d44-4a7e-9a55-0c9c6f0f2e11";
const issue = { id: ID, title: "[ALERTA][infra] canary", description: "canary", priority: 1 as const };

let tracker: Tracker;

beforeEach(async () => {
  tracker = await startTracker({ token: TOKEN, teamId: TEAM });
});

afterEach(async () => {
  await tracker.stop();
});

function createIssue() {
  const url = new URL(tracker.endpoint);
  return linearTracker({ url, token: new Secret(TOKEN), teamId: TEAM, timeoutMs: 20_000 }).createIssue(issue);
}

type Extensions = Record<string, unknown>;
const error = (status: number, extensions: Extensions, message = "canary") =>
  trackerError(status, message, extensions);
const errors = (status: number, list: unknown, data: unknown = null): Answer => ({
  status,
  json: { errors: list, data },
});
const payload = (issueCreate: unknown): Answer => ({ status: 200, json: { data: { issueCreate } } });
const made = { id: ID, identifier: "ENG-1", url: "https://linear.app/example/issue/ENG-1" };
const conflict = (status: number, userPresentableMessage: string, message = "conflict on insert of Issue") =>
  error(status, { type: "invalid input", code: "INPUT_ERROR", userPresentableMessage }, message);

const AUTH = { type: "authentication error", code: "AUTHENTICATION_ERROR", statusCode: 401 };
const LIMIT = { type: "ratelimited", code: "RATELIMITED", statusCode: 429 };
const INPUT = { type: "invalid input", code: "INPUT_ERROR", statusCode: 400, userError: true };
const USAGE = { type: "usage limit exceeded", code: "INPUT_ERROR" };
const INTERNAL = { type: "internal error", code: "INTERNAL_SERVER_ERROR", statusCode: 500 };

describe("what is answered instead of a creation", () => {
  test.each<[string, Answer, string, boolean?]>([
    ["401 authentication", error(401, AUTH), "tracker_unauthorized", true],
    ["200 authentication", error(200, AUTH), "tracker_unauthorized", true],
    ["400 authentication", error(400, AUTH), "tracker_unauthorized", true],
    ["429 authentication", error(429, AUTH), "tracker_unauthorized", true],
    ["200 authentication, code alone", error(200, { code: AUTH.code }), "tracker_unauthorized", true],
    ["200 authentication, type alone", error(200, { type: AUTH.type }), "tracker_unauthorized", true],
    [
      "200 authentication, text alone",
      error(200, {}, "Authentication required, not authenticated"),
      "tracker_unauthorized",
      true,
    ],
    ["401 error of no kind", error(401, {}), "tracker_unauthorized", true],
    ["403 forbidden", error(403, { type: "forbidden" }), "tracker_forbidden"],
    ["200 forbidden", error(200, { type: "forbidden" }), "tracker_forbidden"],
    ["403 error of no kind", error(403, {}), "tracker_forbidden"],
    ["400 input", error(400, INPUT), "tracker_input_refused"],
    ["200 input", error(200, INPUT), "tracker_input_refused"],
    ["400 input, code alone", error(400, { code: INPUT.code }), "tracker_input_refused"],
    ["400 input that names our id", conflict(400, `Bad id ${ID}`, "Argument error"), "tracker_input_refused"],
    [
      "400 conflict of another entity",
      conflict(400, `Entity with id ${ID} exists`, "conflict on insert of IssueLabel"),
      "tracker_input_refused",
    ],
    [
      "400 validation",
      error(400, { type: "graphql error", code: "GRAPHQL_VALIDATION_FAILED" }),
      "tracker_query_refused",
    ],
    ["400 validation, type alone", error(400, { type: "graphql error" }), "tracker_query_refused"],
    ["400 usage limit", error(400, USAGE), "tracker_usage_limit"],
    ["200 usage limit", error(200, { type: USAGE.type }), "tracker_usage_limit"],
    ["400 feature", error(400, { type: "feature not accessible" }), "tracker_feature_not_accessible"],
    ["200 feature", error(200, { type: "feature not accessible" }), "tracker_feature_not_accessible"],
    ["422 user error", error(422, { type: "user error" }), "tracker_user_error"],
    ["two refusals", errors(400, [{ extensions: INPUT }, { extensions: AUTH }]), "tracker_input_refused"],
    [
      "data without a result",
      errors(200, [{ extensions: INPUT }], { issueCreate: null }),
      "tracker_input_refused",
    ],
  ])("%s: nothing was created", async (_row, answer, code, stopsChannel = false) => {
    tracker.routes.graphql.next(answer);
    expect(await createIssue()).toEqual({ status: "refused", code, stopsChannel });
    expect(tracker.ledger).toHaveLength(1);
  });

  test.each<[string, Answer, number]>([
    ["400 rate", { ...error(400, LIMIT), headers: { "retry-after": "9" } }, 9_000],
    ["429 rate", { ...error(429, LIMIT), headers: { "retry-after": "9" } }, 9_000],
    ["200 rate", error(200, LIMIT), 1_000],
    ["400 rate, code alone", error(400, { code: LIMIT.code }), 1_000],
    ["400 rate, type alone", error(400, { type: LIMIT.type }), 1_000],
    ["429 error of no kind", error(429, {}), 1_000],
    ["429 of a proxy", { status: 429, text: "<html>", headers: { "retry-after": "2" } }, 2_000],
    ["400 rate, for days", { ...error(400, LIMIT), headers: { "retry-after": "604800" } }, 3_600_000],
    ["400 rate, at once", { ...error(400, LIMIT), headers: { "retry-after": "0" } }, 1_000],
  ])("%s: nothing was created, and it may be repeated", async (_row, answer, retryAfterMs) => {
    tracker.routes.graphql.next(answer);
    expect(await createIssue()).toEqual({ status: "throttled", code: "tracker_rate_limited", retryAfterMs });
    expect(tracker.ledger).toHaveLength(1);
  });

  test.each<[string, Answer]>([
    ["400 conflict", conflict(400, `Entity Issue with id ${ID} already exists.`)],
    ["200 conflict", conflict(200, `Entity Issue with id ${ID} already exists.`)],
    ["400 conflict, upper case", conflict(400, `Entity Issue with id ${ID.toUpperCase()} already exists.`)],
    ["400 conflict, more text", conflict(400, `Entity ${ID}`, "conflict on insert of Issue - canary")],
    ["500 conflict", conflict(500, `Entity Issue with id ${ID} already exists.`)],
  ])("%s: it was created earlier", async (_row, answer) => {
    tracker.routes.graphql.next({ accept: answer });
    expect(await createIssue()).toEqual({ status: "created", ...made });
    expect(tracker.ledger.map(({ body }) => body)).toMatchObject([{}, { variables: { id: ID } }]);
  });

  test.each<[string, Answer, string]>([
    [
      "400 conflict with another id",
      conflict(400, "Entity Issue with id x exists"),
      "tracker_conflict_unclear",
    ],
    ["lock timeout", error(400, { type: "lock timeout" }), "tracker_lock_timeout"],
    ["200 internal", error(200, INTERNAL), "tracker_internal_error"],
    ["400 internal", error(400, { type: INTERNAL.type }), "tracker_internal_error"],
    ["400 internal, code alone", error(400, { code: INTERNAL.code }), "tracker_internal_error"],
    ["400 internal as input", error(400, { ...INTERNAL, code: "INPUT_ERROR" }), "tracker_internal_error"],
    ["401 internal", error(401, { type: INTERNAL.type }), "tracker_internal_error"],
    ["400 network", error(400, { type: "network error" }), "tracker_network_error"],
    ["200 unknown", error(200, { type: "unknown" }), "tracker_error_unknown"],
    ["200 other", error(200, { type: "other" }), "tracker_error_unknown"],
    ["200 of no kind", error(200, {}), "tracker_error_unknown"],
    [
      "200 of an inherited kind",
      error(200, { type: "toString", code: "constructor" }),
      "tracker_error_unknown",
    ],
    ["400 of no kind", error(400, {}), "tracker_http_400"],
    [
      "a refusal and a fault",
      errors(400, [{ extensions: INPUT }, { extensions: INTERNAL }]),
      "tracker_internal_error",
    ],
    ["errors that are no list", errors(200, "canary"), "tracker_answer_unreadable"],
    ["errors of nothing", errors(200, [null]), "tracker_error_unknown"],
    [
      "a refusal beside a result",
      errors(200, [{ extensions: INPUT }], { issueCreate: {} }),
      "tracker_answer_unreadable",
    ],
    [
      "a success beside an error",
      errors(200, [{}], { issueCreate: { success: true, issue: made } }),
      "tracker_error_unknown",
    ],
    ["success false", payload({ success: false, issue: made }), "tracker_answer_without_issue"],
    ["success as text", payload({ success: "true", issue: made }), "tracker_answer_without_issue"],
    ["no success", payload({ issue: made }), "tracker_answer_without_issue"],
    ["issue null", payload({ success: true, issue: null }), "tracker_answer_without_issue"],
    ["another id", payload({ success: true, issue: { ...made, id: TEAM } }), "tracker_answer_without_issue"],
    ["payload null", payload(null), "tracker_answer_without_issue"],
    ["no data", { status: 200, json: {} }, "tracker_answer_unreadable"],
    ["data null", { status: 200, json: { data: null } }, "tracker_answer_unreadable"],
    ["201", { ...payload({ success: true, issue: made }), status: 201 }, "tracker_http_201"],
    ["500 success", { ...payload({ success: true, issue: made }), status: 500 }, "tracker_http_500"],
    ["500 refusal", error(500, INPUT), "tracker_http_500"],
    ["408 refusal", error(408, INPUT), "tracker_http_408"],
    ["409 refusal", error(409, INPUT), "tracker_http_409"],
    ["500", { status: 500, json: {} }, "tracker_http_500"],
    ["502 of a proxy", { status: 502, text: "<html>" }, "tracker_http_502"],
    ["503 of a proxy", { status: 503, text: "<html>" }, "tracker_http_503"],
    ["401 of a proxy", { status: 401, text: "<html>" }, "tracker_http_401"],
    ["403 of a proxy", { status: 403, text: "<html>" }, "tracker_http_403"],
    ["404 of a proxy", { status: 404, text: "<html>" }, "tracker_http_404"],
    ["400 of a proxy", { status: 400, json: { error: "canary" } }, "tracker_http_400"],
    ["redirect", { status: 302, headers: { location: "/elsewhere" } }, "tracker_http_302"],
    ["307", { status: 307, headers: { location: "/elsewhere" } }, "tracker_http_307"],
    ["200 of a proxy", { status: 200, text: "<html>" }, "tracker_answer_unreadable"],
    ["200 list", { status: 200, json: [] }, "tracker_answer_unreadable"],
    ["200 empty", { status: 200, text: "" }, "tracker_answer_unreadable"],
  ])("%s: it may have been created, so it is looked up", async (_row, answer, code) => {
    tracker.routes.graphql.next(answer);
    expect(await createIssue()).toEqual({ status: "unknown", code });
    expect(tracker.lookups).toEqual([ID]);

    tracker.routes.graphql.next({ accept: answer });
    expect(await createIssue()).toEqual({ status: "created", ...made });
    expect(tracker.issues).toHaveLength(1);
    expect(tracker.unexpected).toHaveLength(0);
  });

  test("archived issues are looked for too", async () => {
    tracker.routes.graphql.next({ status: 502, text: "" });
    await createIssue();
    const { body } = tracker.ledger[1]!;
    expect(hasExactly(body, ["query", "variables"]) && String(body.query)).toContain("includeArchived: true");
  });

  test("a look-up that fails, or finds another issue, finds nothing", async () => {
    const other = { status: 200, json: { data: { issues: { nodes: [{ ...made, id: TEAM }] } } } };
    const partly = { status: 200, json: { data: { issues: { nodes: [made] } }, errors: [{ message: "x" }] } };
    for (const answer of [other, partly, error(401, AUTH), { status: 502, text: "" }]) {
      tracker.routes.graphql.next({ status: 503, text: "" }, answer);
      expect(await createIssue()).toEqual({ status: "unknown", code: "tracker_http_503" });
    }
  });
});
