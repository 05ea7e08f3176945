import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkLimitMs, directoryChildMs, directoryTrialMs } from "../../../cli/child-process/doctor-time.ts";
import { ACCOUNT_LIMIT_MS } from "../../../cli/wiring/host/doctor.ts";

/** What a directory service can take to say who the account is before that counts as no answer. */
const LOOK_UPS = fc.double({ min: 0, max: ACCOUNT_LIMIT_MS, noNaN: true });

test.each([
  [0, 4_000],
  [500, 4_000],
  [501, 3_900],
  [2_000, 2_500],
  [4_500, 500],
  [60_000, 500],
])("checkLimitMs() after %d ms is %d ms", (spentMs, limitMs) => expect(checkLimitMs(spentMs)).toBe(limitMs));

test("root's own checks end within doctor's five seconds, however slow the look-up was", () => {
  fc.assert(fc.property(LOOK_UPS, (spentMs) => spentMs + checkLimitMs(spentMs) < 4_600));
});

test("the trial, the start of the checks and the checks end within them, too", () => {
  fc.assert(
    fc.property(LOOK_UPS, fc.double({ min: 0, max: 1, noNaN: true }), (lookUpMs, part) => {
      const trialMs = part * directoryTrialMs(lookUpMs);
      const spentMs = lookUpMs + trialMs;
      const checkedMs = spentMs + trialMs + checkLimitMs(spentMs + trialMs);
      const readMs = spentMs + directoryChildMs(spentMs);
      expect(readMs).toBeLessThanOrEqual(4_601);
      // What a check says at its own limit is read.
      expect(checkedMs).toBeLessThanOrEqual(readMs);
    }),
  );
});
