/** An application that lets one call through now and then: too few to analyse an owner's networks in one go. */
import { expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { AWAY, lackingNetworks, seedOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";

const shared = sharedWeekly();
const patienceMinutes = 15;
/** Ends a run that would go on until midnight. */
const MOST_CALLS = 400;

test.each([
  [1, AWAY],
  [3, AWAY],
  [1, { status: 429, headers: { "retry-after": "1200" } }],
] as [number, Scripted][])(
  "%i owners, one good call in 25 seconds: it waits as long as its patience, then decides",
  async (owners, answer) => {
    const weekly = shared();
    await seedOwners(weekly, owners);
    const time = virtualTime();
    const interrupt = new AbortController();
    let nextMs = 0;
    let calls = 0;
    weekly.application.routes.analysis.script = () => {
      calls += 1;
      if (calls > MOST_CALLS) interrupt.abort();
      if (time.monotonicMs() < nextMs) return answer;
      nextMs = time.monotonicMs() + 25_000;
      return undefined;
    };
    const summary = await weekly.run({ patienceMinutes }, { ...time, interrupt: interrupt.signal });
    expect(summary).toMatchObject({
      error: null,
      exitCode: 1,
      reports: { completed: owners },
      social: { failed: 2 * owners },
    });
    expect((await lackingNetworks(weekly)).lacking).toHaveLength(2 * owners);
    expect(time.monotonicMs()).toBe(patienceMinutes * 60_000);
  },
);
