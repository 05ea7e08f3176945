import { describe, expect, test } from "bun:test";
import {
  type AttemptResult,
  endOfAttempt,
  endOfLookUp,
  retry,
} from "../../../lib/webhook/delivery/attempt.ts";
import type { DueRow } from "../../../lib/webhook/store/model.ts";
import { sampleAlert } from "../support/sample-alert.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const SENT = { text: "text", note: { emailed: 0, undelivered: 0 }, firstBegunAtMs: 0 };
/** An attempt of a second, whose backoff is the longest that chance allows. */
const FACTS = { tookMs: 1_000, upMs: 2 * HOUR_MS, random: () => 1 };

const rowOf = (changes: Partial<DueRow> = {}): DueRow => ({
  ...{ id: 1, kind: "message", alert: sampleAlert(), attempts: 2, waitedMs: 0, triedMs: 7_000 },
  ...{ isRepeat: false, issueId: null, issueUrl: null, ambiguous: 0, sent: null, members: [] },
  ...changes,
});

const again = {
  status: "retry",
  ...{ code: "x", delayMs: 4_000, triedMs: 12_000, ambiguous: 0, mayHaveArrived: false },
};
const unclear = { arrival: { isAmbiguous: true, knownAfterMs: 5_000 } };
const outage = { arrival: { isAmbiguous: false, knownAfterMs: 35_000 } };
const critical = sampleAlert({ severity: "critical" });

type Case = { name: string; row?: Partial<DueRow>; result: AttemptResult; end: object };

const ENDS: Case[] = [
  {
    name: "delivered",
    result: { status: "delivered", reference: "id", url: null },
    end: { status: "delivered", reference: "id", url: null },
  },
  { name: "refused", result: { status: "refused", code: "x" }, end: { status: "dead", code: "x" } },
  { name: "a failure of the row", result: retry("x", "row"), end: again },
  {
    name: "a failure of the service while a critical row waits long",
    row: { attempts: 9, alert: critical },
    result: retry("x", "service"),
    end: { ...again, delayMs: 10_000, triedMs: 18_000 },
  },
  {
    name: "a time that the service asks for",
    result: retry("x", "service", { retryAfterMs: 60_000 }),
    end: { ...again, delayMs: 60_000, triedMs: 68_000 },
  },
  {
    name: "a refusal of our account, which is no trying",
    result: retry("x", "account"),
    end: { ...again, delayMs: 0, triedMs: 7_000 },
  },
  {
    name: "an ambiguous answer",
    result: retry("x", "service", unclear),
    end: { ...again, delayMs: 5_000, triedMs: 13_000, ambiguous: 1, mayHaveArrived: true },
  },
  {
    name: "an outage, which is not counted",
    result: retry("x", "service", outage),
    end: { ...again, delayMs: 35_000, triedMs: 43_000, mayHaveArrived: true },
  },
  {
    name: "an ambiguous refusal of our account, the first time",
    result: retry("x", "account", unclear),
    end: { ...again, delayMs: 5_000, triedMs: 7_000, ambiguous: 1, mayHaveArrived: true },
  },
  {
    name: "an ambiguous refusal of our account, later",
    row: { ambiguous: 1, sent: SENT },
    result: retry("x", "account", unclear),
    end: { ...again, delayMs: 5_000, triedMs: 7_000, ambiguous: 1, mayHaveArrived: true },
  },
  {
    name: "a clear failure of what may have arrived before",
    row: { ambiguous: 1, sent: SENT },
    result: retry("x", "row"),
    end: { ...again, ambiguous: 1, mayHaveArrived: true },
  },
  {
    name: "an ambiguous answer for an issue, which the tracker knows by its id",
    row: { kind: "issue" },
    result: retry("x", "service", unclear),
    end: again,
  },
  {
    name: "a day of trying",
    row: { triedMs: DAY_MS },
    result: retry("x", "row"),
    end: { status: "dead", code: "x" },
  },
  {
    name: "a day of trying what may have arrived",
    row: { triedMs: DAY_MS, sent: SENT },
    result: retry("x", "row"),
    end: { status: "unknown", code: "x" },
  },
  {
    name: "a day of trying, while our account is refused",
    row: { triedMs: DAY_MS },
    result: retry("x", "account"),
    end: { ...again, delayMs: 0, triedMs: DAY_MS },
  },
];

describe("endOfAttempt()", () => {
  test.each(ENDS)("$name", ({ row, result, end }) => {
    expect<object>(endOfAttempt(rowOf(row), result, FACTS)).toEqual(end);
  });

  test("gives no row up before its process has run for an hour", () => {
    const facts = { ...FACTS, upMs: HOUR_MS - 1 };
    expect(endOfAttempt(rowOf({ triedMs: DAY_MS }), retry("x", "row"), facts).status).toBe("retry");
  });
});

const silent = retry("x", "service");
const LOOK_UPS: { name: string; row?: Partial<DueRow>; found: AttemptResult | null; end: object | null }[] = [
  {
    name: "found",
    found: { status: "delivered", reference: "id", url: null },
    end: { status: "delivered", reference: "id", url: null },
  },
  { name: "not found: sent again", found: null, end: null },
  {
    name: "not found after three ambiguous attempts",
    row: { ambiguous: 3 },
    found: null,
    end: { status: "unknown", code: "send_unknown" },
  },
  {
    name: "no answer: asked again, at intervals that grow with the time of trying",
    found: silent,
    end: { ...again, delayMs: 8_000, triedMs: 16_000, mayHaveArrived: true },
  },
  { name: "no answer for ten minutes: sent again", row: { triedMs: 600_000 }, found: silent, end: null },
  {
    name: "no answer for ten minutes, after three ambiguous attempts",
    row: { triedMs: 600_000, ambiguous: 3 },
    found: silent,
    end: { ...again, delayMs: 300_000, triedMs: 901_000, ambiguous: 3, mayHaveArrived: true },
  },
  {
    name: "no answer for a day, after three ambiguous attempts",
    row: { triedMs: DAY_MS, ambiguous: 3 },
    found: silent,
    end: { status: "unknown", code: "x" },
  },
  {
    name: "not known which ids are taken, for ten minutes",
    row: { triedMs: 600_000 },
    found: retry("x", "row"),
    end: { ...again, delayMs: 300_000, triedMs: 901_000, mayHaveArrived: true },
  },
];

describe("endOfLookUp()", () => {
  test.each(LOOK_UPS)("$name", ({ row, found, end }) => {
    expect<object | null>(endOfLookUp(rowOf({ sent: SENT, ...row }), found, FACTS)).toEqual(end);
  });
});
