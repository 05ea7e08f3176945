/** An application that is away now and then, for runs without patience, some of which are killed. */
import { type Arena, openArena } from "./arena.ts";
import { expectNothingDoubled, expectNothingLost } from "./ledger.ts";
import { type Random, randomFrom } from "./random.ts";
import { killSoon } from "./random-kills.ts";
import type { Ended } from "./worker.ts";

/** So many steps of 21 minutes fit into one Monday. */
const MOST_ROUNDS = 40;
const WITHOUT_PATIENCE = ["--patience", "0", "--concurrency", "4"];

/**
 * Rounds of one to three processes; every third round is killed, the others break off by themselves or finish.
 *
 * Shape: returns how often the application went away and how many runs broke off for that, for the log.
 */
export async function beAwayAtRandom(
  seed: number,
  owners: number,
): Promise<{ outages: number; brokenOff: number }> {
  const random = randomFrom(seed);
  await using arena = await openArena({ owners, latencyMs: 1 });
  const outages = goAwayNowAndThen(arena, random);
  let brokenOff = 0;
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const workers = Array.from({ length: 1 + random.below(3) }, () => arena.start(WITHOUT_PATIENCE));
    const ended = await Promise.all(
      workers.map((worker) => (round % 3 === 0 ? killSoon(arena, worker, random) : worker.ended)),
    );
    brokenOff += ended.filter(({ summary }) => summary?.error?.code === "APP_NOT_ANSWERING").length;
    await expectNothingDoubled(arena);
    await arena.passLeases();
    if (ended.some(isDone)) break;
  }

  arena.application.routes.analysis.script = null;
  await arena.runHere();
  await expectNothingLost(arena);
  return { outages: outages(), brokenOff };
}

/** Alternates between stretches of calls that succeed and of calls that fail; returns a count of the latter. */
function goAwayNowAndThen({ application }: Arena, random: Random): () => number {
  let [left, isAway, outages] = [0, true, 0];
  application.routes.analysis.script = () => {
    if (left === 0) {
      isAway = !isAway;
      outages += isAway ? 1 : 0;
      left = 1 + random.below(80);
    }
    left -= 1;
    return isAway ? { status: 503 } : undefined;
  };
  return () => outages;
}

function isDone({ summary }: Ended): boolean {
  return summary !== null && summary.reports.reused === summary.reports.scopes;
}
