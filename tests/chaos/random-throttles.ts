/** An application that asks for fewer calls (429) now and then, while processes work together and are killed. */
import { expect } from "bun:test";
import { lackingNetworks } from "../weekly/support/outage.ts";
import { type Arena, openArena } from "./arena.ts";
import { expectHeard, expectLastRun } from "./last-run.ts";
import { expectConsistent, expectNothingDoubled } from "./ledger.ts";
import { type Random, randomFrom } from "./random.ts";
import { expectEnd, hasFoundAllDone, killAfter } from "./random-waits.ts";
import type { Ended } from "./worker.ts";

const CONCURRENCY = 4;
const PATIENCE_MINUTES = 15;
/** So many steps of 21 minutes fit into one Monday. */
const MOST_ROUNDS = 30;
/** Far below the patience: a wait of a hurried run passes a hundred times as fast. */
const LONGEST_ASKED_SECONDS = 120;

/** What the seeds have met, for the log. */
export type Throttled = { rounds: number; refusals: number; kills: number; unknown: number };

/**
 * Rounds of two processes; every third round is without a kill. Some stretches of calls are throttled, with
 * `Retry-After` and without.
 *
 * Behaviour: no report lacks a network for it, and no run fails or breaks off: a throttled call waits until it is
 *            answered.
 */
export async function throttleAtRandom(seed: number, owners: number): Promise<Throttled> {
  const random = randomFrom(seed);
  await using arena = await openArena({ owners, latencyMs: 2, editorials: true });
  const refusals = throttleNowAndThen(arena, random);
  const all: Ended[] = [];
  let rounds = 0;
  while (rounds < MOST_ROUNDS) {
    rounds += 1;
    const ended = await runTwo(arena, random, { mayDie: rounds % 3 !== 0 });
    all.push(...ended);
    await expectRound(arena, ended, all);
    await arena.passLeases();
    if (ended.some(hasFoundAllDone)) break;
  }

  arena.application.routes.analysis.script = null;
  const { kills, unknown } = await expectEnd(arena, all);
  expect(unknown).toBeLessThanOrEqual(kills * CONCURRENCY);
  return { rounds, refusals: refusals(), kills, unknown };
}

/** Two processes at once, through the same 429s. */
function runTwo(arena: Arena, random: Random, { mayDie }: { mayDie: boolean }): Promise<Ended[]> {
  const workers = Array.from({ length: 2 }, () =>
    arena.startHurried({ concurrency: CONCURRENCY, patienceMinutes: PATIENCE_MINUTES }),
  );
  return Promise.all(
    workers.map((worker) => {
      const dies = random.below(3) > 0;
      const afterMs = 500 + random.below(4_000);
      return mayDie && dies ? killAfter(worker, afterMs) : worker.ended;
    }),
  );
}

/** Alternates between stretches of answered calls and of throttled calls; returns a count of the throttled. */
function throttleNowAndThen({ application }: Arena, random: Random): () => number {
  let [left, isThrottling, refusals] = [0, true, 0];
  application.routes.analysis.script = () => {
    if (left === 0) {
      isThrottling = !isThrottling;
      left = 1 + random.below(isThrottling ? 8 : 12);
    }
    left -= 1;
    if (!isThrottling) return undefined;
    refusals += 1;
    const seconds = random.below(LONGEST_ASKED_SECONDS);
    // Some name no time.
    return { status: 429, headers: seconds % 3 === 0 ? {} : { "retry-after": String(seconds) } };
  };
  return () => refusals;
}

/** What holds after every round. */
async function expectRound(arena: Arena, ended: Ended[], all: Ended[]): Promise<void> {
  for (const one of ended) {
    if (one.signal === null) expect(one.summary, one.stderr).not.toBeNull();
    if (one.summary === null) continue;
    expect(one.summary.error, one.stderr).toBeNull();
    expectConsistent(one);
    expect(one.summary.reports.failed, one.stderr).toBe(0);
  }
  expect((await lackingNetworks(arena)).lacking, "networks that a report lacks").toEqual([]);
  await expectNothingDoubled(arena);
  expectLastRun(arena, ended);
  expectHeard(arena, all);
}
