/** A database that moves while the real binary works: a replica takes over, or the server is read-only or restarts. */
import { expect } from "bun:test";
import { setTimeout as delay } from "node:timers/promises";
import { startTcpProxy, type TcpProxy } from "../standins/tcp-proxy.ts";
import { connect, PASSWORD, type PostgresServer, startPostgres } from "../support/postgres.ts";
import { until } from "../support/until.ts";
import { type Arena, openArena } from "./arena.ts";
import { expectNothingLost, expectQuiet } from "./ledger.ts";

/** What a scenario works on; `standby` follows `primary`, and `relay` leads to one of them. */
type Cluster = { primary: PostgresServer; standby: PostgresServer | null; relay: TcpProxy; arena: Arena };

/**
 * The primary crashes; for `awayMs` its name leads nowhere, then for as long to a replica that takes no writes yet, and
 * then the replica is promoted.
 */
export async function promoteReplica({ owners, awayMs }: { owners: number; awayMs: number }): Promise<void> {
  await disturb({ owners, withStandby: true }, async ({ primary, standby, relay }) => {
    relay.close();
    await primary.halt("immediate");
    await delay(awayMs);
    relay.lead(standby!.port);
    relay.open();
    await delay(awayMs);
    await promote(relay);
  });
}

/** Every session of the server becomes read-only for so long, and stays open. */
export async function pauseWrites({ owners, awayMs }: { owners: number; awayMs: number }): Promise<void> {
  await disturb({ owners, withStandby: false }, async ({ arena }) => {
    const { sql } = arena.db;
    const set = async (value: "on" | "off") => {
      await sql.unsafe(`alter system set default_transaction_read_only = ${value}`);
      await sql`select pg_reload_conf()`;
    };
    await set("on");
    await delay(awayMs);
    await set("off");
  });
}

/** The server starts again, then all connections are cut, then it crashes. */
export async function restartAndCut({ owners, awayMs }: { owners: number; awayMs: number }): Promise<void> {
  await disturb({ owners, withStandby: false }, async ({ primary, relay, arena }) => {
    const sent = () => arena.gateway.accepted.length;
    await primary.halt("fast");
    await delay(awayMs);
    await primary.resume();
    await until("messages go out again", () => sent() >= owners / 3, 120_000);
    relay.cut();
    await until("messages go out again", () => sent() >= owners / 2, 120_000);
    await primary.halt("immediate");
    await primary.resume();
  });
}

/** A run over all owners that is disturbed after its first messages: it succeeds, nothing is doubled, nothing lost. */
async function disturb(
  { owners, withStandby }: { owners: number; withStandby: boolean },
  disturbance: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const primary = await startPostgres({ inMemory: true });
  const standby = withStandby ? await startPostgres({ inMemory: true, standbyOf: primary }) : null;
  const relay = await startTcpProxy(primary.port);
  try {
    await using arena = await openArena({
      owners,
      latencyMs: 5,
      server: primary,
      through: relay.port,
      analyzed: true,
    });
    // What is committed is on the replica, too: otherwise nothing could be promised.
    if (standby !== null) await waitForReplica(arena);
    const worker = arena.start();
    await until("the first messages", () => arena.gateway.accepted.length >= owners / 6, 120_000);
    await disturbance({ primary, standby, relay, arena });

    const { summary, exitCode } = await worker.ended;
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: owners, failed: 0 },
      failures: [],
    });
    expect(exitCode).toBe(0);
    const states = await expectNothingLost(arena);
    expect(states).toEqual({ "whatsapp sent": owners, "email sent": owners });
    expectQuiet(arena, await arena.runHere(), states);
  } finally {
    await relay.stop();
    await standby?.stop();
    await primary.stop();
  }
}

/** Makes every commit wait for the replica from now on. */
async function waitForReplica({ db: { sql } }: Arena): Promise<void> {
  await until("the replica follows", async () => (await sql`select from pg_stat_replication`).length === 1);
  await sql.unsafe("alter system set synchronous_standby_names = '*'");
  await sql`select pg_reload_conf()`;
  await until("its commits are waited for", async () => {
    const [row] = await sql`select sync_state from pg_stat_replication`;
    return row?.sync_state === "sync";
  });
}

/** Promotes the server behind the relay, which then waits for no replica any more. */
async function promote(relay: TcpProxy): Promise<void> {
  const url = `postgres://postgres:${PASSWORD}@127.0.0.1:${relay.port}/postgres`;
  const sql = connect(url);
  try {
    await sql`select pg_promote()`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}
