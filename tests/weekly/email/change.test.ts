import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { changeOf } from "../../../lib/weekly/email/figures/change.ts";

const better = (key: string, now: number | null, before: number | null) =>
  changeOf(key, now, before, "more_is_better");

describe("changeOf()", () => {
  test.each([
    ["reach", 58_210, 42_100, "up", "16.110 a mais", "38,3%"],
    ["reach", 42_100, 58_210, "down", "16.110 a menos", "27,7%"],
    ["reach", 5, 5, "flat", "igual", null],
    ["reach", 0, 0, "flat", "igual", null],
    ["reach", 7, 0, "up", "7 a mais", null],
    ["reach", 7, -3, "up", "10 a mais", null],
    ["reach", 19, 10, "up", "9 a mais", null],
    ["reach", 30, 20, "up", "10 a mais", "50,0%"],
    ["reach", 300, 20, "up", "280 a mais", null],
    ["reach", 0, 40, "down", "40 a menos", "100,0%"],
    ["posts_per_day", 1.004, 1.001, "flat", "igual", null],
    ["posts_per_day", 1.5, 1.25, "up", "0,25 a mais", null],
    ["reach", 1e300, 2e300, "down", "1,00 × 10^300 a menos", "50,0%"],
    ["open_rate", 0.4426, 0.4041, "up", "3,9 p.p. a mais", null],
    ["open_rate", 0.443, 0.4041, "up", "3,9 p.p. a mais", null],
    ["open_rate", 0.40412, 0.4041, "flat", "igual", null],
    ["open_rate", 0, 0.02, "down", "2,0 p.p. a menos", null],
    ["open_rate", 1, 0.9999, "up", "menos de 0,1 p.p. a mais", null],
    ["engagementRate", 4.7, 4.5, "up", "0,2 p.p. a mais", null],
    ["ctr", 0, 1.2, "down", "1,2 p.p. a menos", null],
  ] as const)("of %s %p after %p is %s: %s", (key, now, before, trend, text, percent) => {
    expect(better(key, now, before)).toMatchObject({ trend, text, percent });
  });

  test.each([
    ["a figure without the week before", "reach", 5, null],
    ["an absent figure", "reach", null, 5],
    ["two rates of which one may be a share or a percentage", "ctr", 1.2, 0.9],
    ["the same the other way round", "ctr", 0.9, 1.2],
    ["a rate of 1, which may be one of a hundred, and a percentage", "open_rate", 1, 50],
    ["the same the other way round, of 1", "open_rate", 50, 1],
    ["a share and the percentage near it", "engagementRate", 4.7, 0.045],
  ])("does not compare %s", (_what, key, now, before) => {
    expect(better(key, now, before)).toMatchObject({
      trend: "unknown",
      tone: "plain",
      text: "sem comparação",
    });
  });

  test.each([
    ["more_is_better", 2, 1, "good"],
    ["more_is_better", 1, 2, "bad"],
    ["less_is_better", 2, 1, "bad"],
    ["less_is_better", 1, 2, "good"],
    ["neutral", 2, 1, "plain"],
    ["less_is_better", 1, 1, "plain"],
  ] as const)("where %s, %p after %p is %s", (direction, now, before, tone) => {
    expect(changeOf("x", now, before, direction).tone).toBe(tone);
  });

  test("the other way round is the same size with the other sign", () => {
    const figure = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(fc.constantFrom("reach", "open_rate"), figure, figure, (key, a, b) => {
        const [there, back] = [better(key, a, b), better(key, b, a)];
        expect(back.text.replace("a menos", "a mais")).toBe(there.text.replace("a menos", "a mais"));
        expect([there.trend, back.trend].toSorted()).toEqual(
          there.trend === "up" || there.trend === "down" ? ["down", "up"] : [there.trend, there.trend],
        );
        expect(there.size).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
