/** What helps a week that is open: the steps that are named lead to its end. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { WeekDeliveries } from "../../lib/ledger/week-state.ts";
import {
  nextCommand,
  type OpenState,
  stepOf,
  type WeekStep,
  weekSteps,
  whyNoRun,
} from "../../lib/ledger/week-steps.ts";
import { isWeekDone } from "../../lib/ledger/week-verdict.ts";
import { weekOf } from "../weekly/announce/support.ts";

type Week = ReturnType<typeof weekOf>;

const count = fc.constantFrom(0, 0, 1, 7);
const deliveries = fc.record({
  partial: count,
  failed: count,
  unknown: count,
  running: count,
  missing: count,
});
const weeks = fc
  .record({
    reports: fc.record({ running: count, failed: count, missing: count }),
    whatsapp: deliveries,
    email: deliveries,
  })
  .map(weekOf);

/** The ledger after a step that worked as well as it can. */
const TAKEN: Record<WeekStep, (deliveries: WeekDeliveries) => Partial<WeekDeliveries>> = {
  run: () => ({ failed: 0, missing: 0 }),
  "look-up": () => ({ unknown: 0 }),
  repair: () => ({ partial: 0 }),
  // A process that dies leaves a failure, or a doubt.
  wait: ({ running, unknown }) => ({ running: 0, unknown: unknown + running }),
};

function taken(week: Week, step: WeekStep): Week {
  const ended = step === "run" ? { failed: 0, missing: 0 } : step === "wait" ? { running: 0 } : {};
  const after = (channel: WeekDeliveries) => ({ ...channel, ...TAKEN[step](channel) });
  return {
    ...week,
    reports: { ...week.reports, ...ended },
    whatsapp: after(week.whatsapp),
    email: after(week.email),
  };
}

function withAllTaken(week: Week, isClosed: boolean): Week {
  let current = week;
  for (let rounds = 0; rounds < 6; rounds += 1) {
    const [step] = weekSteps(current, { isClosed });
    if (step === undefined) return current;
    current = taken(current, step);
  }
  throw new Error("the steps have no end");
}

describe("weekSteps()", () => {
  test("bring every week of a Monday to its end", () => {
    fc.assert(fc.property(weeks, (week) => expect(isWeekDone(withAllTaken(week, false))).toBe(true)));
  });

  test("leave of a closed week only what was not sent, and name no run for it", () => {
    fc.assert(
      fc.property(weeks, (week) => {
        expect(weekSteps(week, { isClosed: true })).not.toContain("run");
        const { reports, whatsapp, email } = withAllTaken(week, true);
        expect(reports.running).toBe(0);
        for (const { running, unknown, partial } of [whatsapp, email])
          expect([running, unknown, partial]).toEqual([0, 0, 0]);
      }),
    );
  });

  test("name a run only where it changes something", () => {
    fc.assert(
      fc.property(weeks, (week) => {
        const { reports, whatsapp, email } = week;
        const toSend = [reports, whatsapp, email].some(({ failed, missing }) => failed + missing > 0);
        const steps = weekSteps(week, { isClosed: false });
        expect(steps.includes("run")).toBe(toSend);
        expect(whyNoRun(steps) === null).toBe(toSend);
      }),
    );
  });
});

describe("stepOf()", () => {
  test.each<[OpenState, WeekStep | null, WeekStep | null]>([
    ["failed", "run", null],
    ["missing", "run", null],
    ["unknown", "look-up", "look-up"],
    ["partial", "repair", "repair"],
    ["running", "wait", "wait"],
  ])("of what is %s is %p on its Monday, %p afterwards", (state, open, closed) => {
    expect(stepOf(state, { isClosed: false })).toBe(open);
    expect(stepOf(state, { isClosed: true })).toBe(closed);
  });
});

test.each<[WeekStep[], string | null]>([
  [[], null],
  [["run"], null],
  [["run", "look-up"], null],
  [["look-up"], "opsctl deliveries look-up --all"],
  [["repair"], "opsctl deliveries repair"],
  [["wait"], "opsctl reports status"],
  [["look-up", "repair"], "opsctl reports status"],
])("nextCommand() of %j is %p", (steps, command) => expect(nextCommand(steps)).toBe(command));
