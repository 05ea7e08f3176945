/**
 * The long form, `make chaos`: every kill point, many seeds of random kills, of an application that is away or
 * throttles and of a database that moves, the webhook killed with its channels in trouble, two hosts of it with one
 * database, signals to runs that hang.
 *
 * `CHAOS_SEED` repeats one seed, `CHAOS_ROUNDS` says how many seeds follow it (2, so that all of it takes some fifteen
 * minutes on two cores). What a seed decides is the same each time: who is started and killed, when, and what breaks;
 * where a process is at that moment is not.
 */
import { describe, test } from "bun:test";
import { requires } from "../support/requires.ts";
import { pauseWrites, promoteReplica, restartAndCut } from "./failover.ts";
import { runAtOnce } from "./four-at-once.ts";
import { interruptBusyRun, interruptHangingSend } from "./interrupt.ts";
import { killAt } from "./kill-at.ts";
import { COMMAND_KILL_POINTS, killCommandAt } from "./kill-command.ts";
import { KILL_POINTS } from "./kill-points.ts";
import { killAtRandom } from "./random-kills.ts";
import { moveAtRandom } from "./random-moves.ts";
import { beAwayAtRandom } from "./random-outages.ts";
import { throttleAtRandom } from "./random-throttles.ts";
import { waitAtRandom } from "./random-waits.ts";
import { troubleChannels } from "./webhook/channels.ts";
import { disturbHosts } from "./webhook/hosts.ts";
import { killWebhookAtRandom } from "./webhook/kills.ts";

const firstSeed = Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000_000);
const rounds = Number(process.env.CHAOS_ROUNDS ?? (process.env.CHAOS_SEED === undefined ? 2 : 1));
const seeds = Array.from({ length: rounds }, (_, i) => firstSeed + i);

describe("random kills", () => {
  test.each(seeds)("seed %d", async (seed) => {
    const { kills, unknown } = await killAtRandom(seed, 30);
    console.log(
      `CHAOS_SEED=${seed}: ${kills} processes killed, ${unknown} deliveries with an unknown result, none twice`,
    );
  });
});

describe("an application that is away now and then", () => {
  test.each(seeds)("seed %d", async (seed) => {
    const { outages, brokenOff } = await beAwayAtRandom(seed, 60);
    console.log(
      `CHAOS_SEED=${seed}: away ${outages} times, ${brokenOff} runs broke off, nothing lost, none twice`,
    );
  });
});

describe("an application that is away while processes wait for it and are killed", () => {
  test.each(seeds)("seed %d", async (seed) => {
    const met = await waitAtRandom(seed, 40);
    console.log(
      `CHAOS_SEED=${seed}: away ${met.outages} times in ${met.rounds} rounds, ${met.waits} processes waited, ` +
        `${met.breakOffs} broke off, ${met.kills} killed, ${met.unknown} deliveries with an unknown result, none twice, ` +
        `${met.lacking} networks lacking after long outages, none after short ones`,
    );
  });
});

describe("an application that asks for fewer calls while two processes work and are killed", () => {
  test.each(seeds)("seed %d", async (seed) => {
    const met = await throttleAtRandom(seed, 60);
    console.log(
      `CHAOS_SEED=${seed}: ${met.refusals} calls answered 429 in ${met.rounds} rounds of two processes, ` +
        `${met.kills} killed, ${met.unknown} deliveries with an unknown result, none twice, no network lacking`,
    );
  });
});

describe("a database that moves while processes work and are killed", () => {
  test.each(seeds.slice(0, Math.ceil(rounds / 2)))("seed %d", async (seed) => {
    const { rounds, moves, kills, unknown } = await moveAtRandom(seed, 60);
    console.log(
      `CHAOS_SEED=${seed}: moved ${moves} times in ${rounds} rounds, ${kills} processes killed, ` +
        `${unknown} deliveries with an unknown result, none twice, nobody failed`,
    );
  });
});

describe("the webhook, killed at random", () => {
  test.each(seeds)("seed %d", async (seed) => {
    const damage = await killWebhookAtRandom({ seed, posts: 300, kills: 25 });
    console.log(
      `CHAOS_SEED=${seed}: no alert lost, no issue doubled, ${damage.doubled} messages sent once too often`,
    );
  });

  test.each(seeds)("the webhook loses no alert while most go out together, seed %d", async (seed) => {
    const damage = await killWebhookAtRandom({ seed, posts: 300, kills: 25, digests: true });
    console.log(
      `CHAOS_SEED=${seed}: ${damage.digests} digests, ${damage.doubled} alerts sent once too often`,
    );
  });

  requires("mount").test.each(seeds)(
    "the webhook loses no alert with its disk full, seed %d",
    async (seed) => {
      const damage = await killWebhookAtRandom({ seed, posts: 300, kills: 25, fullDisk: true });
      console.log(`CHAOS_SEED=${seed}: ${damage.fromMemory} from memory`);
    },
  );
});

describe("the webhook, killed while both of its channels are in trouble", () => {
  // Both at once: most of the time is waiting.
  test.each(seeds)("seed %d", async (seed) => {
    const all = await Promise.all([troubleChannels(seed, "file"), troubleChannels(seed + 1, "database")]);
    for (const met of all)
      console.log(
        `CHAOS_SEED=${seed}: ${met.kills} kills, ${met.alerts} alerts, none lost, ${met.unknown} unknown, ` +
          `${met.firstByEmail} heard first by ${met.emails} e-mails, the slowest after ${met.slowestSeconds} s`,
      );
  });
});

describe("two hosts of the webhook with one database", () => {
  const half = seeds.slice(0, Math.ceil(rounds / 2));
  test.each(half.flatMap((seed) => [[seed, false] as const, [seed, true] as const]))(
    "seed %d, most alerts sent together: %p",
    async (seed, digests) => {
      const damage = await disturbHosts({ seed, moves: 6, digests });
      console.log(
        `CHAOS_SEED=${seed}: ${damage.moves.join(", ")}: ${damage.alerts} alerts, none lost, ` +
          `${damage.digests} digests, ${damage.fromMemory} from memory, ${damage.doubled} sent once too often`,
      );
    },
  );
});

describe("kills at every point of the run flow", () => {
  test.each(KILL_POINTS.map((point) => [point.name, point] as const))("%s", (_name, point) =>
    killAt(point, { thorough: true }),
  );
});

describe("commands that mend a week, killed at each of their steps", () => {
  test.each(COMMAND_KILL_POINTS.map((point) => [point.name, point] as const))("%s", (_name, point) =>
    killCommandAt(point),
  );
});

describe("a database that moves while 1,500 owners get their reports", () => {
  test("read-only for 2 seconds", () => pauseWrites({ owners: 1_500, awayMs: 2_000 }));
  test("read-only for 90 seconds", () => pauseWrites({ owners: 1_500, awayMs: 90_000 }));
  test("its server starts again, its connections break, it crashes", () =>
    restartAndCut({ owners: 1_500, awayMs: 30_000 }));
  test("a replica takes over after a minute", () => promoteReplica({ owners: 1_500, awayMs: 30_000 }));
});

describe("processes at once, and signals", () => {
  test("eight processes over 300 owners", () => runAtOnce({ processes: 8, owners: 300 }));
  test("SIGTERM in the middle of a run", () => interruptBusyRun("SIGTERM"));
  test("SIGINT in the middle of a run", () => interruptBusyRun("SIGINT"));
  test("SIGTERM while a provider is silent", () => interruptHangingSend());
});
