import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { WeekState } from "../../lib/ledger/week-state.ts";
import { isWeekClean, isWeekDone, openInWeek, socialVerdict } from "../../lib/ledger/week-verdict.ts";

const DELIVERIES = { sent: 3, partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 };
const DONE: WeekState = {
  owners: 3,
  reports: { completed: 3, running: 0, failed: 0, missing: 0 },
  whatsapp: DELIVERIES,
  email: DELIVERIES,
  social: { connected: 6, failed: 0, owners: 0 },
  noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
  before: null,
};

describe("isWeekDone()", () => {
  test("of a week in which all is completed and sent", () => {
    expect(isWeekDone(DONE)).toBe(true);
    expect(openInWeek(DONE)).toEqual({ reports: {}, whatsapp: {}, email: {} });
  });

  const steps: [keyof WeekState, string][] = [
    ...["running", "failed", "missing"].map((state): [keyof WeekState, string] => ["reports", state]),
    ...["whatsapp", "email"].flatMap((step) =>
      ["partial", "failed", "unknown", "running", "missing"].map((state): [keyof WeekState, string] => [
        step as keyof WeekState,
        state,
      ]),
    ),
  ];

  test.each(steps)("not with one of %s that is %s", (step, state) => {
    const week = { ...DONE, [step]: { ...(DONE[step] as object), [state]: 1 } };
    expect(isWeekDone(week)).toBe(false);
    expect(isWeekClean(week)).toBe(false);
    expect(openInWeek(week)).toEqual({ reports: {}, whatsapp: {}, email: {}, [step]: { [state]: 1 } });
  });

  test("with what nobody can mend, and with networks that failed", () => {
    const social = { connected: 6, failed: 6, owners: 3 };
    const week = { ...DONE, noLongerEligible: { reports: 1, whatsapp: 1, email: 1 }, social };
    expect(isWeekDone(week)).toBe(true);
    expect(isWeekClean(week)).toBe(false);
  });
});

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
    expect(socialVerdict({ social: { connected, failed, owners } })).toBe(code as never);
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
