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
} from "../../../lib/weekly/outage/breaker.ts";

const BAD: CallVerdict[] = ["may_heal", "refused", "lasting", "no_analysis"];

const call = (owner: number, verdict: CallVerdict): JudgedCall => ({
  owner: `owner ${owner}`,
  verdict,
  code: verdict === "good" ? null : "APP_HTTP_503",
});

const calls = fc.array(
  fc.record({
    owner: fc.nat(14),
    // Mostly bad, so that the breaker opens now and then.
    verdict: fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom(...BAD) },
      { weight: 1, arbitrary: fc.constant<CallVerdict>("good") },
    ),
  }),
  { maxLength: 120 },
);

const afterAll = (given: JudgedCall[]) => given.reduce((now, next) => afterCall(now, next), NEW_BREAKER);

describe("afterCall()", () => {
  test.each([
    [19, 19, false],
    [20, 9, false],
    [20, 10, true],
    [200, 9, false],
  ])("%i bad calls of %i owners: open %p", (count, owners, isTripped) => {
    const given = Array.from({ length: count }, (_, i) => call(i % owners, "may_heal"));
    expect(afterAll(given).isTripped).toBe(isTripped);
  });

  test("a good call that was begun before the breaker opened does not close it", () => {
    const open = afterAll(Array.from({ length: 20 }, (_, i) => call(i, "may_heal")));
    expect(afterCall(open, call(3, "good"), { isStale: true })).toMatchObject({
      isTripped: true,
      hasGood: true,
    });
    expect(afterCall(open, call(3, "good"))).toMatchObject({ isTripped: false, hasGood: true });
  });

  test("opens exactly when the calls since the last good one say so, and stays open until a good one", () => {
    fc.assert(
      fc.property(calls, (given) => {
        let breaker: Breaker = NEW_BREAKER;
        let since: JudgedCall[] = [];
        let hasGood = false;
        for (const { owner, verdict } of given) {
          breaker = afterCall(breaker, call(owner, verdict));
          if (verdict === "good") [since, hasGood] = [[], true];
          else since.push(call(owner, verdict));
          // What does not heal counts until the first good call, and then no more.
          const counting = since.filter((bad) => !hasGood || bad.verdict === "may_heal");
          const owners = new Set(counting.map((bad) => bad.owner)).size;
          expect(breaker.hasGood).toBe(hasGood);
          expect(breaker.badInARow).toBe(counting.length);
          expect(breaker.isTripped).toBe(counting.length >= BAD_CALLS && owners >= BAD_OWNERS);
          expect(mayHealSoon(breaker)).toBe(
            since.length > 0 && since.every((bad) => bad.verdict === "may_heal"),
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});
