import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  expectCounters,
  expectOutcome,
  type OutcomeRow,
  type PlayedTable,
  playOutcomes,
} from "../support/outcome-table.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

const refusal = (status: number, error: string, message: unknown) => ({
  status,
  json: { status, error, response: { message } },
});
const sent = { status: "sent" as const, code: null, sends: 1 };
const failed = (code: string, sends = 1) => ({ status: "failed" as const, code, sends });
const unknown = (code: string) => ({ status: "unknown" as const, code, sends: 1 });
const tooMany = { status: 429, headers: { "retry-after": "2" } };
const metaError = (code: number) => ({
  status: 201,
  json: { message: "(#131030) Recipient", type: "OAuthException", code, fbtrace_id: "A" },
});

const ROWS: OutcomeRow[] = [
  ["201 with an id", ["usual"], sent],
  ["200 with an id", [{ status: 200, json: { key: { id: "3EB0FF" } } }], sent],
  ["201 with Meta's error", [metaError(131030)], failed("meta_131030")],
  ["201 with Meta's 131026", [metaError(131026)], failed("meta_131026")],
  ["201 with Meta's 100", [metaError(100)], failed("meta_100")],
  ["201 with Meta's 131000", [metaError(131000)], unknown("meta_131000")],
  ["201 with Meta's 131016", [metaError(131016)], unknown("meta_131016")],
  ["201 with Meta's 1", [metaError(1)], unknown("meta_1")],
  ["201 with Meta's 2", [metaError(2)], unknown("meta_2")],
  ["201 with a code that Meta does not list", [metaError(987_654)], unknown("meta_987654")],
  ["Meta's 130429 once, then accepted", [metaError(130429), "usual"], { ...sent, sends: 2 }],
  [
    "Meta's 131056, then in doubt",
    [metaError(131056), "drop"],
    { ...unknown("gateway_connection_lost"), sends: 2 },
  ],
  ...[4, 80007, 130429, 131048, 131056].map(
    (code): OutcomeRow => [`Meta's ${code} again and again`, [metaError(code)], failed(`meta_${code}`, 4)],
  ),
  ["201 with nothing in it", [{ status: 201, json: {} }], unknown("gateway_answer_without_id")],
  [
    "201 with an empty id",
    [{ status: 201, json: { key: { id: "" } } }],
    unknown("gateway_answer_without_id"),
  ],
  [
    "201 with a number for an id",
    [{ status: 201, json: { key: { id: 7 } } }],
    unknown("gateway_answer_without_id"),
  ],
  ["204 without a body", [{ status: 204 }], unknown("gateway_answer_unreadable")],
  ["a page instead of an answer", ["not_json"], unknown("gateway_answer_unreadable")],
  ["4 MiB of blanks", ["huge"], unknown("gateway_answer_unreadable")],
  [
    "404 for the instance",
    [refusal(404, "Not Found", ['The "ops" instance does not exist'])],
    failed("sem_instancia_gateway"),
  ],
  ["404 for the route", [refusal(404, "Not Found", ["Cannot POST /x"])], failed("gateway_http_404")],
  ["404 of something else", [{ status: 404, text: "<html>" }], unknown("gateway_http_404")],
  [
    "400 of the body's schema",
    [refusal(400, "Bad Request", [['instance requires property "text"']])],
    failed("gateway_body_invalid"),
  ],
  ["400 without text", [refusal(400, "Bad Request", ["Text is required"])], failed("gateway_text_missing")],
  [
    "400 for a number that WhatsApp does not know",
    [refusal(400, "Bad Request", [{ jid: "1@s.whatsapp.net", exists: false, number: "1" }])],
    failed("recipient_not_on_whatsapp"),
  ],
  [
    "400 for JSON that is none",
    [refusal(400, "Internal Server Error", "Unexpected token")],
    failed("gateway_body_unreadable"),
  ],
  [
    "400 from inside the send",
    [refusal(400, "Bad Request", ["Error: Connection Closed"])],
    unknown("gateway_http_400"),
  ],
  [
    "400 from after the send",
    [{ accept: refusal(400, "Bad Request", ["PrismaClientKnownRequestError: x"]) }],
    unknown("gateway_http_400"),
  ],
  ["400 without a body", [{ status: 400 }], unknown("gateway_http_400")],
  ["403", [{ status: 403, text: "Forbidden" }], unknown("gateway_http_403")],
  ["408", [{ status: 408 }], unknown("gateway_http_408")],
  ["409", [{ status: 409 }], unknown("gateway_http_409")],
  ["413", [{ status: 413 }], failed("gateway_http_413")],
  ["302", [{ status: 302, headers: { location: "/elsewhere" } }], unknown("gateway_http_302")],
  ["500", [refusal(500, "Internal Server Error", "Connection Closed")], unknown("gateway_http_500")],
  ["502 of a proxy", [{ status: 502, text: "<html>" }], unknown("gateway_http_502")],
  ["503 that is no licence gate", [{ status: 503, json: { error: "down" } }], unknown("gateway_http_503")],
  ["429 once, then accepted", [tooMany, "usual"], { ...sent, sends: 2 }],
  ["429 four times", [tooMany, tooMany, tooMany, tooMany, "usual"], failed("gateway_http_429", 4)],
  [
    "429 that asks for longer than the lease",
    [{ status: 429, headers: { "retry-after": "600" } }, "usual"],
    failed("gateway_http_429"),
  ],
  ["429, then a drop", [tooMany, "drop"], { ...unknown("gateway_connection_lost"), sends: 2 }],
  ["no answer at all", ["hang"], unknown("gateway_timeout")],
  ["accepted, and no answer", [{ accept: "hang" }], unknown("gateway_timeout")],
  ["half an answer, then silence", ["stall_body"], unknown("gateway_timeout")],
  ["half an answer, then a close", ["break_body"], unknown("gateway_connection_lost")],
  ["closed after the request", ["drop"], unknown("gateway_connection_lost")],
  ["accepted, then closed", [{ accept: "drop" }], unknown("gateway_connection_lost")],
  ["an answer that is not HTTP", ["not_http"], unknown("gateway_connection_lost")],
  ["nobody listens", ["refused"], { ...failed("gateway_unreachable"), sends: 0 }],
];

describe("runWeekly() with every answer that the gateway can give", () => {
  let weekly: WeeklyFixture;
  let played: PlayedTable;
  beforeAll(async () => {
    weekly = await weeklyFixture();
    played = await playOutcomes(weekly, "whatsapp", ROWS);
  });
  afterAll(async () => await weekly[Symbol.asyncDispose]());

  test.each(ROWS)("%s", (name, _played, expected) => {
    const outcome = played.outcomes.get(name)!;
    expectOutcome(outcome, expected);
    if (expected.status === "unknown") {
      const named = (summary: typeof played.first) =>
        summary.failures
          .filter(({ deliveryId }) => deliveryId === outcome.first.id)
          .map((f) => [f.step, f.code]);
      expect(named(played.first)).toEqual([["whatsapp", expected.code!]]);
      expect(named(played.second)).toEqual([["whatsapp", "delivery_unknown"]]);
    }
  });

  test("each counter has its rows, e-mail is not touched by any of it, and the old heartbeat stays", async () => {
    expectCounters(played, "whatsapp", ROWS);
    expect(weekly.email.accepted).toHaveLength(ROWS.length);
    const [entries] = await weekly.db.sql`select count(*)::int as n from timeline_entries`;
    expect(entries!.n).toBe(ROWS.filter(([, , { status }]) => status !== "unknown").length);
  });

  test("a throttled send waits as long as it is told, and no longer than three times", () => {
    expect(played.waitsMs.filter((ms) => ms === 2_000)).toHaveLength(1 + 3 + 1);
    expect(played.waitsMs.filter((ms) => ms >= 600_000)).toHaveLength(0);
  });

  test("Meta's limits are waited for as long as each takes to pass, three times", () => {
    // Two rows wait once; each of the two short and the three long limits is waited for three times.
    expect(played.waitsMs.filter((ms) => ms === 6_000)).toHaveLength(1 + 1 + 2 * 3);
    expect(played.waitsMs.filter((ms) => ms === 30_000)).toHaveLength(3 * 3);
  });

  test("nothing that was said holds a number", () => {
    expect(played.outcomes.size).toBeGreaterThan(20);
    for (const { owner } of played.outcomes.values()) {
      expect(played.said).not.toContain(owner.phone!.replace(/\D/g, "").slice(-9));
    }
  });
});
