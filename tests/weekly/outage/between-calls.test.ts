/** Outages that begin and end anywhere, also between two calls of one owner: no report lacks a network for them. */
import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { type Random, randomFrom } from "../../chaos/random.ts";
import { AWAY, lackingNetworks, seedManyOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const OWNERS = 14;
/** One in three finds a run that trusts a good answer to a call that began before the failure. */
const SEEDS = Array.from({ length: 14 }, (_, i) => i + 1);
/** All of them shorter than the two minutes that a run waits for few owners. */
const LENGTHS_SECONDS = [3, 30, 100];

/** Answers that come in another order than the calls. */
function answerInAnyOrder(weekly: WeeklyFixture, random: Random): void {
  const usual = weekly.onAnalyze;
  weekly.onAnalyze = async (body) => {
    for (let turns = random.below(30); turns > 0; turns -= 1) await setImmediate();
    await usual(body);
  };
}

/** Two outages: one in the first pass, the next one after one to six good calls. */
function goAwayTwice({ application }: WeeklyFixture, random: Random) {
  const time = virtualTime();
  const outages = { begun: 0, time };
  let callsToGo = 1 + random.below(2 * OWNERS);
  let untilMs = 0;
  application.routes.analysis.script = () => {
    if (time.monotonicMs() < untilMs) return AWAY;
    callsToGo -= 1;
    if (callsToGo > 0 || outages.begun === 2) return undefined;
    outages.begun += 1;
    callsToGo = 2 + random.below(6);
    untilMs = time.monotonicMs() + LENGTHS_SECONDS[random.below(LENGTHS_SECONDS.length)]! * 1_000;
    return AWAY;
  };
  return outages;
}

describe("runWeekly() with outages that begin between two calls of an owner", () => {
  test.each(SEEDS)("seed %i, eight at a time: every report has every network", async (seed) => {
    const weekly = shared();
    const random = randomFrom(seed);
    await seedManyOwners(weekly, OWNERS);
    answerInAnyOrder(weekly, random);
    const outages = goAwayTwice(weekly, random);
    const summary = await weekly.run({ patienceMinutes: 15, concurrency: 8 }, outages.time);
    expect(outages.begun).toBeGreaterThan(0);
    expect(summary).toMatchObject({ status: "success", reports: { completed: OWNERS } });
    expect(await lackingNetworks(weekly)).toEqual({ completed: OWNERS, lacking: [] });
  });
});
