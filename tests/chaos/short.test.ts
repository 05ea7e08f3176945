/**
 * The disturbances that every `make test` goes through; `make chaos` runs them longer and at random, and kills at all
 * of the points. Here the report, the message's dispatch and its send stand for those that `weekly/run/crashes.test.ts`
 * has, and one point for all that leave the same rows.
 */
import { describe, test } from "bun:test";
import { promoteReplica } from "./failover.ts";
import { runAtOnce } from "./four-at-once.ts";
import { killAt } from "./kill-at.ts";
import { COMMAND_KILL_POINTS, killCommandAt } from "./kill-command.ts";
import { KILL_POINTS } from "./kill-points.ts";
import { killAtRandom } from "./random-kills.ts";
import { moveAtRandom } from "./random-moves.ts";
import { beAwayAtRandom } from "./random-outages.ts";
import { waitAtRandom } from "./random-waits.ts";

/** Seeds that meet much: outages with waits and kills, and moves in several rounds. */
const SEED_OF_WAITS = 8;
const SEED_OF_MOVES = 4;

describe("opsctl weekly, killed at one point and run again, sends nothing twice and loses nothing", () => {
  const points = KILL_POINTS.filter(({ isInCrashes, isLikeAnother }) => !isInCrashes && !isLikeAnother);
  test.each(points.map((point) => [point.name, point] as const))("%s", (_name, point) =>
    killAt(point, { thorough: false }),
  );
});

describe("opsctl deliveries, killed at one point and given again, sends nothing and leaves nothing open", () => {
  const points = COMMAND_KILL_POINTS.filter(({ isLikeAnother }) => !isLikeAnother);
  test.each(points.map((point) => [point.name, point] as const))("%s", (_name, point) =>
    killCommandAt(point),
  );
});

describe("opsctl weekly, disturbed otherwise, sends nothing twice and loses nothing", () => {
  test("four processes at once over 40 owners", () => runAtOnce({ processes: 4, owners: 40 }));

  test("killed at random, with a fixed seed", async () => {
    await killAtRandom(20261123, 12);
  });

  test("a replica takes over in the middle of a run", () => promoteReplica({ owners: 40, awayMs: 500 }));

  test("an application that is away now and then, with a fixed seed", async () => {
    await beAwayAtRandom(20261123, 20);
  });

  test("an application that processes wait for, killed meanwhile, with a fixed seed", async () => {
    await waitAtRandom(SEED_OF_WAITS, 10);
  });

  test("a database that moves, processes killed meanwhile, with a fixed seed", async () => {
    await moveAtRandom(SEED_OF_MOVES, 12);
  });
});
