/** When an alert began and ended, on the second line of its message. */
import { describe, expect, test } from "bun:test";
import { renderMessage } from "../../../../lib/webhook/texts/message/message-text.ts";
import { alertWith } from "../../support/alert.ts";
import { AT_ONCE } from "../../support/golden-parts.ts";

const at = (text: string) => Date.parse(text);
const timesOf = (parts: Parameters<typeof alertWith>[0], nowMs: number, isRepeat = false) =>
  renderMessage(alertWith({ severity: null, ...parts }), { ...AT_ONCE, nowMs, isRepeat }).split("\n")[1];

describe("renderMessage() of an alert that fires", () => {
  const of = (startsAt: string | null, now: string, isRepeat = false) =>
    timesOf({ startsAt }, at(now), isRepeat);

  test.each([
    ["2026-03-02T21:10:00Z", "2026-03-02T21:15:59Z", "desde 18:10 (há 5 min)"],
    ["2026-03-02T21:10:00Z", "2026-03-02T21:10:59Z", "desde 18:10 (há menos de 1 min)"],
    ["2026-03-02T21:10:00Z", "2026-03-02T22:09:59Z", "desde 18:10 (há 59 min)"],
    ["2026-03-02T21:10:00Z", "2026-03-02T22:10:00Z", "desde 18:10 (há 1 h)"],
    ["2026-03-02T21:10:00Z", "2026-03-02T21:09:59Z", "desde 18:10"],
    // Midnight is that of São Paulo.
    ["2026-03-02T02:59:59Z", "2026-03-02T03:00:00Z", "desde 01/03 23:59 (há menos de 1 min)"],
    ["2026-03-02T03:00:00Z", "2026-03-03T02:59:59Z", "desde 00:00 (há 23 h 59 min)"],
    ["2025-12-31T12:00:00Z", "2026-01-02T15:00:00Z", "desde 31/12/2025 09:00 (há 2 d 3 h)"],
    // The hour that the last summer time took away: 00:00 did not exist on that day.
    ["2018-11-04T02:59:00Z", "2018-11-04T03:01:00Z", "desde 03/11 23:59 (há 2 min)"],
    ["0001-01-01T00:00:00Z", "2026-03-02T03:00:00Z", null],
    ["ontem", "2026-03-02T03:00:00Z", null],
    [null, "2026-03-02T03:00:00Z", null],
  ])("since %p, at %p: %p", (startsAt, now, text) => {
    expect(of(startsAt, now)).toBe(text === null ? "infra" : `infra · ${text}`);
  });

  test("an alert that is repeated says that it goes on", () => {
    expect(of("2026-03-02T21:10:00Z", "2026-03-03T01:12:00Z", true)).toBe(
      "infra · continua desde 18:10 (há 4 h 2 min)",
    );
  });
});

describe("renderMessage() of a resolved alert", () => {
  const of = (startsAt: string | null, endsAt: string | null) =>
    timesOf({ status: "resolved", firing: false, startsAt, endsAt }, at("2026-03-02T22:00:00Z"));

  test.each([
    ["2026-03-02T21:10:00Z", "2026-03-02T21:52:59Z", "durou 42 min (18:10 a 18:52)"],
    ["2026-03-01T21:10:00Z", "2026-03-02T21:10:00Z", "durou 1 d (01/03 18:10 a 18:10)"],
    ["2026-03-01T21:10:00Z", "2026-03-01T21:52:00Z", "durou 42 min (01/03 18:10 a 18:52)"],
    ["2026-02-28T21:10:00Z", "2026-03-01T21:10:00Z", "durou 1 d (28/02 18:10 a 01/03 18:10)"],
    ["2026-03-02T21:10:00Z", "2026-03-02T21:10:00Z", "durou menos de 1 min (18:10 a 18:10)"],
    ["2026-03-02T21:10:01Z", "2026-03-02T21:10:00Z", "terminou 18:10"],
    ["2026-03-01T21:10:01Z", "2026-03-01T21:10:00Z", "terminou 01/03 18:10"],
    ["2026-03-02T21:10:00Z", "0001-01-01T00:00:00Z", "começou 18:10"],
    [null, "2026-03-02T21:10:00Z", "terminou 18:10"],
    [null, null, null],
  ])("from %p to %p: %p", (startsAt, endsAt, text) => {
    expect(of(startsAt, endsAt)).toBe(`Resolvido · infra${text === null ? "" : ` · ${text}`}`);
  });
});
