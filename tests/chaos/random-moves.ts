/** A database that moves at random instants, in every way, while processes of the real binary work and are killed. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { startTcpProxy, type TcpProxy } from "../standins/tcp-proxy.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { type Arena, openArena } from "./arena.ts";
import { expectHeard, expectLastRun } from "./last-run.ts";
import { expectConsistent, expectNothingDoubled } from "./ledger.ts";
import { type Random, randomFrom } from "./random.ts";
import { expectEnd, hasFoundAllDone, killAfter } from "./random-waits.ts";
import type { Ended, Worker } from "./worker.ts";

const CONCURRENCY = 4;
const MOST_ROUNDS = 30;
/** Far below the two minutes that a report waits. */
const LONGEST_AWAY_MS = 3_000;

/** What moves: the server, the way to it, and the arena behind both. */
type Moving = { server: PostgresServer; relay: TcpProxy; arena: Arena };

/** Ways of moving; each has returned when writes are possible again. */
const MOVES = {
  "read-only": async ({ arena }, awayMs) => {
    await setReadOnly(arena, "on");
    await delay(awayMs);
    await setReadOnly(arena, "off");
  },
  restarted: async ({ server }, awayMs) => {
    await server.halt("fast");
    await delay(awayMs);
    await server.resume();
  },
  crashed: async ({ server }, awayMs) => {
    await server.halt("immediate");
    await delay(awayMs);
    await server.resume();
  },
  refused: async ({ relay }, awayMs) => {
    relay.vanish();
    await delay(awayMs);
    relay.open();
  },
  cut: async ({ relay }) => relay.cut(),
  "read-only, then restarted": async (moving, awayMs) => {
    await setReadOnly(moving.arena, "on");
    await delay(awayMs / 2);
    await MOVES.crashed(moving, awayMs / 2);
    await setReadOnly(moving.arena, "off");
  },
} satisfies Record<string, (moving: Moving, awayMs: number) => Promise<void> | void>;

/**
 * Rounds of one to three processes through up to three moves; every third round is without a kill.
 *
 * Behaviour: no report and no delivery fails, because the database is never away for longer than they wait.
 */
export async function moveAtRandom(
  seed: number,
  owners: number,
): Promise<{ rounds: number; moves: number; kills: number; unknown: number }> {
  const random = randomFrom(seed);
  const server = await startPostgres({ inMemory: true });
  const relay = await startTcpProxy(server.port);
  try {
    await using arena = await openArena({
      owners,
      latencyMs: 20,
      server,
      through: relay.port,
      analyzed: true,
    });
    const moving = { server, relay, arena };
    const all: Ended[] = [];
    let moves = 0;
    let rounds = 0;
    while (rounds < MOST_ROUNDS) {
      rounds += 1;
      const ended = await runTogether(moving, random, { mayDie: rounds % 3 !== 0 });
      moves += ended.moves;
      all.push(...ended.runs);
      await expectRound(arena, ended.runs, all);
      await arena.passLeases();
      if (ended.runs.some(hasFoundAllDone)) break;
    }
    const { kills, unknown } = await expectEnd(arena, all);
    expect(unknown).toBeLessThanOrEqual(kills * CONCURRENCY);
    return { rounds, moves, kills, unknown };
  } finally {
    await relay.stop();
    await server.stop();
  }
}

/** Starts the processes of one round, kills some of them, and moves the database meanwhile. */
async function runTogether(
  moving: Moving,
  random: Random,
  { mayDie }: { mayDie: boolean },
): Promise<{ runs: Ended[]; moves: number }> {
  const workers = Array.from({ length: 1 + random.below(3) }, () =>
    moving.arena.start(["--concurrency", String(CONCURRENCY)]),
  );
  const runs = Promise.all(
    workers.map((worker) => {
      const dies = random.below(3) > 0;
      const afterMs = 200 + random.below(4_000);
      return mayDie && dies ? killAfter(worker, afterMs) : worker.ended;
    }),
  );
  // A run that starts while nothing listens at the address ends at once: the address may be wrong.
  await Promise.all(workers.map(callsPeers));
  const names = Object.keys(MOVES) as (keyof typeof MOVES)[];
  const moves = 1 + random.below(3);
  for (let i = 0; i < moves; i += 1) {
    // The instant itself is what is random here: nothing is waited for.
    await delay(random.below(800));
    await MOVES[names[random.below(names.length)]!](moving, random.below(LONGEST_AWAY_MS));
  }
  const ended = await runs;
  await until("the database answers again", () => answers(moving.arena), 60_000);
  return { runs: ended, moves };
}

/** The run has got as far as its first call. */
function callsPeers({ log, ended }: Worker): Promise<unknown> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  return until(
    "the run calls a peer",
    () => hasEnded || log().includes("An external service was called"),
    60_000,
  );
}

/** What holds after every round. */
async function expectRound(arena: Arena, ended: Ended[], all: Ended[]): Promise<void> {
  for (const one of ended) {
    if (one.signal === null) expect(one.summary, one.stderr).not.toBeNull();
    if (one.summary === null) continue;
    expect(one.summary.error, one.stderr).toBeNull();
    expectConsistent(one);
    const { reports, whatsapp, email } = one.summary;
    expect([reports.failed, whatsapp.failed, email.failed], one.stderr).toEqual([0, 0, 0]);
  }
  await expectNothingDoubled(arena);
  expectLastRun(arena, ended);
  expectHeard(arena, all);
}

/** Sessions that have broken are noticed at their next use. */
async function answers({ db }: Arena): Promise<boolean> {
  try {
    await Promise.all(Array.from({ length: 10 }, () => db.sql`select pg_sleep(0.01)`));
    const [row] = await db.sql`show default_transaction_read_only`;
    return row!.default_transaction_read_only === "off";
  } catch {
    return false;
  }
}

/** Sets the whole server read-only, or lets it write again; asked until a session that has not broken says so. */
async function setReadOnly({ db: { sql } }: Arena, value: "on" | "off"): Promise<void> {
  await until(
    `the server is set read-only: ${value}`,
    async () => {
      try {
        await sql.unsafe(`alter system set default_transaction_read_only = ${value}`);
        await sql`select pg_reload_conf()`;
        return true;
      } catch {
        return false;
      }
    },
    60_000,
  );
}
