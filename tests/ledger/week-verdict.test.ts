import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { socialVerdict } from "../../lib/ledger/week-verdict.ts";

describe("socialVerdict()", () => {
  test.each([
    [0, 0, 0, null],
    [1, 0, 0, null],
    [1, 1, 1, "SOCIAL_ALL_CALLS_FAILED"],
    [2, 1, 1, null],
    [3, 2, 2, null],
    [6, 6, 3, "SOCIAL_ALL_CALLS_FAILED"],
    [30, 3, 3, null],
    [29, 3, 3, "SOCIAL_DEGRADED"],
    [30, 4, 3, "SOCIAL_DEGRADED"],
    [30, 4, 2, null],
    [30, 29, 2, null],
    [40_000, 4_000, 2_000, null],
    [40_000, 4_001, 2_001, "SOCIAL_DEGRADED"],
  ])("of %p networks %p failed, in %p owners: %p", (connected, failed, owners, code) => {
    expect<string | null>(socialVerdict({ social: { connected, failed, owners } })).toBe(code);
  });

  test("never gets better by one more failed network", () => {
    const rank = (code: string | null) => [null, "SOCIAL_DEGRADED", "SOCIAL_ALL_CALLS_FAILED"].indexOf(code);
    fc.assert(
      fc.property(fc.nat(500), fc.nat(500), fc.nat(300), (connected, failed, owners) => {
        fc.pre(failed < connected && owners <= failed);
        const verdict = (count: number, of: number) =>
          socialVerdict({ social: { connected, failed: count, owners: of } });
        expect(rank(verdict(failed + 1, owners))).toBeGreaterThanOrEqual(rank(verdict(failed, owners)));
        expect(rank(verdict(failed + 1, owners + 1))).toBeGreaterThanOrEqual(rank(verdict(failed, owners)));
      }),
    );
  });
});
