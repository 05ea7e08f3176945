import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  expectCounters,
  expectOutcome,
  type OutcomeRow,
  type PlayedTable,
  playOutcomes,
} from "../support/outcome-table.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

const refusal = (statusCode: number, name: string, message = "Refused owner@client.example") => ({
  status: statusCode,
  json: { statusCode, name, message },
});
const sent = { status: "sent" as const, code: null, sends: 1 };
const failed = (code: string, sends = 1) => ({ status: "failed" as const, code, sends });
const unknown = (code: string) => ({ status: "unknown" as const, code, sends: 1 });
const tooFast = { ...refusal(429, "rate_limit_exceeded"), headers: { "retry-after": "2" } };

const refused = (status: number, name: string): OutcomeRow => [
  `${status} ${name}`,
  [refusal(status, name)],
  failed(name),
];
const ambiguous = (status: number, name: string): OutcomeRow => [
  `${status} ${name}`,
  [refusal(status, name)],
  unknown(name),
];

const ROWS: OutcomeRow[] = [
  ["200 with an id", ["usual"], sent],
  ["202 with an id", [{ status: 202, json: { id: "7d1f" } }], sent],
  ["200 with nothing in it", [{ status: 200, json: {} }], unknown("email_answer_without_id")],
  ["200 with an empty id", [{ status: 200, json: { id: "" } }], unknown("email_answer_without_id")],
  ["200 with a number for an id", [{ status: 200, json: { id: 7 } }], unknown("email_answer_without_id")],
  ["202 without a body", [{ status: 202 }], unknown("email_answer_unreadable")],
  ["a page instead of an answer", ["not_json"], unknown("email_answer_unreadable")],
  ["an answer packed to bursting", ["bomb"], unknown("email_answer_unreadable")],
  refused(400, "invalid_idempotency_key"),
  refused(400, "validation_error"),
  refused(401, "missing_api_key"),
  refused(401, "restricted_api_key"),
  ["403 of the edge", [{ status: 403, text: "error code: 1010" }], failed("email_http_403")],
  [
    "403 for a domain that is not verified",
    [refusal(403, "validation_error", "The mail.example domain is not verified. Please, add it")],
    failed("email_sender_domain_unverified"),
  ],
  [
    "403 of the sandbox",
    [refusal(403, "validation_error", "You can only send testing emails to your own address")],
    failed("validation_error"),
  ],
  refused(404, "not_found"),
  refused(405, "method_not_allowed"),
  ["413 of a proxy", [{ status: 413, text: "<html>" }], failed("email_http_413")],
  refused(422, "missing_required_field"),
  refused(422, "invalid_attachment"),
  refused(422, "invalid_from_address"),
  refused(451, "security_error"),
  ["422 with a name that is no name", [refusal(422, "a <b>@c")], failed("email_http_422")],
  ["408", [{ status: 408 }], unknown("email_http_408")],
  ambiguous(409, "invalid_idempotent_request"),
  ambiguous(409, "concurrent_idempotent_requests"),
  ambiguous(409, "resource_locked"),
  ["301", [{ status: 301, headers: { location: "/elsewhere" } }], unknown("email_http_301")],
  ambiguous(500, "application_error"),
  ambiguous(500, "internal_server_error"),
  ["500 from after the send", [{ accept: refusal(500, "application_error") }], unknown("application_error")],
  ["502 of a proxy", [{ status: 502, text: "<html>" }], unknown("email_http_502")],
  ambiguous(503, "service_unavailable"),
  ["429 once, then accepted", [tooFast, "usual"], { ...sent, sends: 2 }],
  ["429 four times", [tooFast, tooFast, tooFast, tooFast, "usual"], failed("rate_limit_exceeded", 4)],
  [
    "429 that asks for longer than the lease",
    [{ ...tooFast, headers: { "retry-after": "600" } }, "usual"],
    failed("rate_limit_exceeded"),
  ],
  [
    "429, then a 500",
    [tooFast, refusal(500, "application_error")],
    { ...unknown("application_error"), sends: 2 },
  ],
  ["no answer at all", ["hang"], unknown("email_timeout")],
  ["accepted, and no answer", [{ accept: "hang" }], unknown("email_timeout")],
  ["half an answer, then silence", ["stall_body"], unknown("email_timeout")],
  ["half an answer, then a close", ["break_body"], unknown("email_connection_lost")],
  ["closed after the request", ["drop"], unknown("email_connection_lost")],
  ["accepted, then closed", [{ accept: "drop" }], unknown("email_connection_lost")],
  ["nobody listens", ["refused"], { ...failed("email_unreachable"), sends: 0 }],
];

describe("runWeekly() with every answer that the e-mail provider can give", () => {
  let weekly: WeeklyFixture;
  let played: PlayedTable;
  beforeAll(async () => {
    weekly = await weeklyFixture();
    played = await playOutcomes(weekly, "email", ROWS);
  });
  afterAll(async () => await weekly[Symbol.asyncDispose]());

  test.each(ROWS)("%s", (name, _played, expected) => {
    const outcome = played.outcomes.get(name)!;
    expectOutcome(outcome, expected);
    const { first, firstCalls, secondCalls } = outcome;
    const calls = [...firstCalls, ...secondCalls];
    expect(new Set(calls.map(({ rawBody }) => rawBody)).size).toBe(1);
    const keys = calls.map(({ headers }) => headers["idempotency-key"]);
    expect(new Set(keys)).toEqual(new Set([`weekly-performance-email/${first.id}`]));
  });

  test("each counter has its rows, WhatsApp is not touched by any of it, and the old heartbeat stays", () => {
    expectCounters(played, "email", ROWS);
    expect(weekly.gateway.accepted).toHaveLength(ROWS.length);
  });

  test("each failure names step, code and ids, and nothing that was said holds an address", () => {
    expect(played.first.failures).toHaveLength(ROWS.filter(([, , { status }]) => status !== "sent").length);
    for (const failure of played.first.failures) {
      expect(failure).toEqual({
        step: "email",
        code: expect.any(String),
        tenantId: expect.any(String),
        reportId: expect.any(String),
        deliveryId: expect.any(String),
      });
    }
    expect(played.said).not.toContain("@");
  });
});
