import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { afterProbe, beginWait, PROBE_EVERY_MS, waitStep } from "../../../lib/weekly/outage/wait.ts";

/** Follows a wait to its end, each probe taking so long; returns when the probes began and when it was over. */
function follow(patienceMs: number, probeMs: (nth: number) => number) {
  let [nowMs, wait] = [1_000, beginWait("tripped", 1_000, patienceMs)];
  const probes: number[] = [];
  for (;;) {
    const step = waitStep(wait, nowMs);
    if (step.status === "over") return { probes, overMs: nowMs - 1_000 };
    if (step.status === "sleep") nowMs += step.ms;
    else {
      probes.push(nowMs - 1_000);
      wait = afterProbe(wait, nowMs);
      nowMs += probeMs(probes.length);
    }
  }
}

describe("waitStep()", () => {
  test.each([
    [0, []],
    [1, [1]],
    [30_000, [30_000]],
    [50_000, [30_000, 50_000]],
    [120_000, [30_000, 60_000, 90_000, 120_000]],
  ])("with a patience of %i ms asks at %p", (patienceMs, probes) => {
    expect(follow(patienceMs, () => 0)).toEqual({ probes, overMs: patienceMs });
  });

  test("asks all along, once more when the patience ends, and then no more, however long a probe takes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3_600_000 }),
        fc.array(fc.nat(120_000), { minLength: 1 }),
        (patienceMs, took) => {
          const { probes } = follow(patienceMs, (nth) => took[nth % took.length]!);
          const gaps = probes.map((at, i) => at - (probes[i - 1] ?? 0));
          const longest = Math.max(...took);
          expect(probes.at(-1)).toBeGreaterThanOrEqual(patienceMs);
          expect(probes.filter((at) => at >= patienceMs)).toHaveLength(1);
          for (const gap of gaps) expect(gap).toBeLessThanOrEqual(Math.max(PROBE_EVERY_MS, longest));
        },
      ),
    );
  });
});
