/** Processes that are killed at random instants, again and again, until one of them finds everything done. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../support/until.ts";
import { type Arena, openArena } from "./arena.ts";
import { expectConsistent, expectNothingDoubled, expectNothingLost, expectQuiet } from "./ledger.ts";
import { type Random, randomFrom } from "./random.ts";
import type { Ended, Worker } from "./worker.ts";

const CONCURRENCY = 4;
/** So many steps of 21 minutes fit into one Monday. */
const MOST_ROUNDS = 50;

/**
 * Rounds of one to three processes, each killed after a random number of calls; every fourth round may live.
 *
 * Shape: returns how many processes were killed and how many deliveries have an unknown result, for the log.
 */
export async function killAtRandom(
  seed: number,
  owners: number,
): Promise<{ kills: number; unknown: number }> {
  const random = randomFrom(seed);
  await using arena = await openArena({ owners, latencyMs: 2, editorials: true });
  let kills = 0;
  for (let round = 1; ; round += 1) {
    const mayLive = round % 4 === 0;
    const workers = Array.from({ length: 1 + random.below(3) }, () =>
      arena.start(["--concurrency", String(CONCURRENCY)]),
    );
    const ended = await Promise.all(
      workers.map((worker) => (mayLive ? worker.ended : killSoon(arena, worker, random))),
    );
    kills += ended.filter(({ signal }) => signal === "SIGKILL").length;
    for (const one of ended) if (one.summary !== null) expectConsistent(one);
    await expectNothingDoubled(arena);
    await arena.passLeases();
    if (ended.some(isDone) || round === MOST_ROUNDS) break;
  }

  expectConsistent(await arena.run());
  const states = await expectNothingLost(arena);
  expectQuiet(arena, await arena.runHere(), states);
  const unknown = (states["whatsapp unknown"] ?? 0) + (states["email unknown"] ?? 0);
  expect(unknown).toBeLessThanOrEqual(kills * CONCURRENCY);
  return { kills, unknown };
}

/** Nothing was left to do but what has an unknown result. */
function isDone({ summary }: Ended): boolean {
  if (summary === null) return false;
  const { reports, whatsapp, email } = summary;
  const open = [whatsapp, email].map(({ sent, failed, partial }) => sent + failed + partial);
  return reports.reused === reports.scopes && open[0]! + open[1]! === 0;
}

/** Kills a process some calls from now, or some milliseconds after it has had its last one. */
export async function killSoon(arena: Arena, worker: Worker, random: Random): Promise<Ended> {
  const seen = () =>
    arena.application.ledger.length + arena.gateway.ledger.length + arena.email.ledger.length;
  const target = seen() + random.below(40);
  const laterMs = random.below(8);
  let hasEnded = false;
  void worker.ended.then(() => {
    hasEnded = true;
  });
  await until("the calls before the kill", () => hasEnded || seen() >= target);
  // The instant itself is what is random here: nothing is waited for.
  await delay(laterMs);
  worker.kill("SIGKILL");
  return await worker.ended;
}
