import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  afterCall,
  BAD_CALLS,
  BAD_OWNERS,
  type Breaker,
  type CallVerdict,
  type JudgedCall,
  mayHealSoon,
  NEW_BREAKER,
  startedAnew,
} from "../../../lib/weekly/outage/breaker.ts";

const VERDICTS: CallVerdict[] = ["good", "may_heal", "refused", "lasting", "no_analysis"];

const call = (owner: number, verdict: CallVerdict, code: string | null = "APP_HTTP_503"): JudgedCall => ({
  owner: `owner ${owner}`,
  verdict,
  code: verdict === "good" ? null : code,
});

const calls = fc.array(
  fc.record({
    owner: fc.nat(14),
    // Mostly bad, so that the breaker trips now and then.
    verdict: fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...VERDICTS.filter((verdict) => verdict !== "good")) },
      { weight: 1, arbitrary: fc.constant<CallVerdict>("good") },
    ),
  }),
  { maxLength: 120 },
);

const afterAll = (given: JudgedCall[], breaker: Breaker = NEW_BREAKER) =>
  given.reduce((now, next) => afterCall(now, next), breaker);

describe("afterCall()", () => {
  test.each([
    [19, 19, false],
    [20, 9, false],
    [20, 10, true],
    [200, 9, false],
    [21, 21, true],
  ])("%i bad calls of %i owners: tripped %p", (count, owners, isTripped) => {
    const given = Array.from({ length: count }, (_, i) => call(i % owners, "may_heal"));
    expect(afterAll(given)).toMatchObject({ isTripped, badInARow: count });
  });

  test.each(["refused", "lasting", "no_analysis"] as const)(
    "%s counts until the first good call, then no more",
    (verdict) => {
      const given = Array.from({ length: 30 }, (_, i) => call(i, verdict, "APP_HTTP_404"));
      expect(afterAll(given).isTripped).toBe(true);
      expect(afterAll([call(99, "good"), ...given])).toMatchObject({
        isTripped: false,
        badInARow: 0,
        hasOthers: true,
      });
    },
  );

  test("what does not count leaves what counts in a row", () => {
    const given = Array.from({ length: 40 }, (_, i) => call(i, i % 2 === 0 ? "may_heal" : "lasting"));
    expect(afterAll([call(99, "good"), ...given])).toMatchObject({ isTripped: true, badInARow: 20 });
  });

  test("a good call that was begun before the breaker tripped does not close it", () => {
    const tripped = afterAll(Array.from({ length: 20 }, (_, i) => call(i, "may_heal")));
    expect(afterCall(tripped, call(3, "good"), { isStale: true })).toEqual({ ...tripped, hasGood: true });
    expect(afterCall(tripped, call(3, "good"))).toEqual({ ...NEW_BREAKER, hasGood: true });
  });

  test("keeps a code that all bad calls have, and knows when there is none", () => {
    const same = Array.from({ length: 30 }, (_, i) => call(i, "refused", "APP_HTTP_401"));
    expect(afterAll(same).codes).toEqual(["APP_HTTP_401"]);
    expect(afterAll([...same, call(1, "may_heal"), call(2, "may_heal", "APP_TIMEOUT")]).codes).toHaveLength(
      2,
    );
  });

  test("trips exactly when the calls since the last good one say so, and stays so until a good one", () => {
    fc.assert(
      fc.property(calls, (given) => {
        let breaker: Breaker = NEW_BREAKER;
        let since: JudgedCall[] = [];
        let hasGood = false;
        for (const { owner, verdict } of given) {
          const next = call(owner, verdict);
          breaker = afterCall(breaker, next);
          if (verdict === "good") [since, hasGood] = [[], true];
          else since.push(next);
          const counting = since.filter((bad) => !hasGood || bad.verdict === "may_heal");
          const owners = new Set(counting.map((bad) => bad.owner)).size;
          expect(breaker.hasGood).toBe(hasGood);
          expect(breaker.badInARow).toBe(counting.length);
          expect(breaker.isTripped).toBe(counting.length >= BAD_CALLS && owners >= BAD_OWNERS);
          expect(mayHealSoon(breaker)).toBe(
            since.length > 0 && since.every((bad) => bad.verdict === "may_heal"),
          );
          // What is kept of an outage stays small, also of a long one.
          expect(breaker.owners.length).toBeLessThanOrEqual(BAD_OWNERS);
          expect(breaker.codes.length).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("startedAnew()", () => {
  test("keeps only that there was a good call", () => {
    const tripped = afterAll([call(1, "good"), ...Array.from({ length: 20 }, (_, i) => call(i, "may_heal"))]);
    expect(startedAnew(tripped)).toEqual({ ...NEW_BREAKER, hasGood: true });
  });
});
