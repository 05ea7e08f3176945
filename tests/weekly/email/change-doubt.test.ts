import { describe, expect, test } from "bun:test";
import { changeOf } from "../../../lib/weekly/email/figures/change.ts";

const change = (key: string, now: number | null, before: number | null) =>
  changeOf(key, now, before, "more_is_better");

describe("changeOf() in doubt", () => {
  test.each<[string, number | null, number | null, string, string | null]>([
    ["reach", 58_210, 42_100, "16.110 a mais", "38,3%"],
    ["reach", 42_100, 58_210, "16.110 a menos", "27,7%"],
    ["reach", 0, 40, "40 a menos", "100,0%"],
    ["reach", 40, 0, "40 a mais", null],
    ["reach", 219, 20, "199 a mais", "995,0%"],
    ["reach", 220, 20, "200 a mais", null],
    ["reach", 38, 19, "19 a mais", null],
    ["reach", 0, 0, "igual", null],
    ["reach", -0, 0, "igual", null],
    ["reach", -3, 2, "5 a menos", null],
    ["reach", 12.5, 10.25, "2,25 a mais", null],
    ["reach", null, 0, "sem comparação", null],
    ["reach", 0, null, "sem comparação", null],
    ["reach", 1e300, 5, "1,00 × 10^300 a mais", null],
    ["engagement_rate", 0.047, 0.05, "0,3 p.p. a menos", null],
    ["engagement_rate", 0.047, 4.7, "sem comparação", null],
    ["engagement_rate", 4.7, 0.05, "sem comparação", null],
    ["engagement_rate", 0.9, 1.2, "sem comparação", null],
    ["engagement_rate", 0.5, 5, "sem comparação", null],
    ["engagement_rate", 0.3, 3, "sem comparação", null],
    ["engagement_rate", 0.4, 5, "sem comparação", null],
    ["engagement_rate", 0.01, 4.7, "sem comparação", null],
    ["engagement_rate", 0.1, 4.7, "sem comparação", null],
    ["engagement_rate", 1, 1.2, "sem comparação", null],
    ["engagement_rate", 1, 0.5, "50,0 p.p. a mais", null],
    ["engagement_rate", 1, 1, "igual", null],
    ["engagement_rate", -0.5, -5, "sem comparação", null],
    ["engagement_rate", 0, 4.7, "4,7 p.p. a menos", null],
    ["engagement_rate", 0.0003, 0, "menos de 0,1 p.p. a mais", null],
  ])("of %s, %p after %p, is %p", (key, now, before, text, percent) => {
    expect(change(key, now, before)).toMatchObject({ text, percent });
  });

  test("is none of two numbers whose difference no number holds", () => {
    for (const [now, before] of [
      [1.7e308, -1.7e308],
      [-1.7e308, 1.7e308],
    ] as const)
      expect(change("reach", now, before)).toMatchObject({ trend: "unknown", text: "sem comparação" });
  });

  test.each([
    [20, 12, "bad"],
    [12, 20, "good"],
    [-20, -12, "plain"],
    [-12, 20, "plain"],
  ] as const)("of a loss, %p after %p, is %s", (now, before, tone) => {
    expect(changeOf("followers_lost", now, before, "less_is_better").tone).toBe(tone);
  });

  test.each([
    ["ctr", 0.02, 0.002, 0.18],
    ["ctr", 4, 2, 0.2],
    ["ctr", 0.05, 0, 0.5],
    ["open_rate", 0.1, 0.05, 0.5],
    ["open_rate", 0.443, 0.611, 0.168 / 0.611],
    ["ctr", 0.03, 0.02, 0.1],
    ["ctr", 0.02, 0.03, 0.1],
    ["ctr", 0.0294, 0.02, 0],
    ["open_rate", 0.443, 0.4335, 0],
    ["reach", 1, 0, 1],
    ["reach", 58_210, 184_310, 1 - 58_210 / 184_310],
  ])("of %s, %p after %p, has the size %p", (key, now, before, size) => {
    expect(change(key, now, before).size).toBeCloseTo(size, 12);
  });
});
