/** Each statement that is handed to the database settles, whatever becomes of its connection. */
import { heapStats } from "bun:jsc";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { type Database, openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { outcome } from "../../support/database-fault.ts";
import { type PostgresServer, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { ROW, underFault } from "../support/database-load.ts";
import { type FaultProxy, faultProxy } from "../support/fault-proxy.ts";
import { announceOtherProcess } from "../support/wire.ts";

/** For a peer that hangs; long for a statement that is answered. */
const SHORT_MS = 2_000;
/** So long that a test which waits for it fails. */
const LONG_MS = 600_000;
const CONNECTIONS = 2;
const LOSSES_IN_A_ROW = 20;

let server: PostgresServer;
let database: TestDatabase;

beforeAll(async () => {
  server = await sharedPostgres();
  database = await server.createDatabase({ migrated: false, appSchema: false });
});
afterAll(() => database.drop());

function open(
  port: number,
  options: { max?: number; connectLimitMs?: number; answerLimitMs?: number; closeLimitMs?: number } = {},
): Promise<Database> {
  const url = new URL(database.url);
  url.port = String(port);
  return openDatabase(new Secret(url.href), {
    max: CONNECTIONS,
    applicationName: "opsctl settling",
    ...options,
  });
}

/** The server's processes of this test's connections. */
async function backends(): Promise<number[]> {
  const rows = await database.sql`
    select pid from pg_stat_activity where application_name = 'opsctl settling' and datname = ${database.name}`;
  return rows.map(({ pid }) => pid as number);
}

const LOSSES: [string, (proxy: FaultProxy) => unknown][] = [
  ["every connection breaks at once", (proxy) => proxy.cut()],
  ["each answer ends in the middle of a row, with its connection", (proxy) => proxy.cutRow(ROW, "break")],
  [
    "the server ends every session",
    async () => {
      for (const pid of await backends()) await database.sql`select pg_terminate_backend(${pid}, 10000)`;
    },
  ],
];

const SILENCES: [string, (proxy: FaultProxy) => unknown][] = [
  ["every statement is lost on the way", (proxy) => proxy.lose("statements")],
  ["every answer is lost on the way", (proxy) => proxy.lose("answers")],
  ["each answer ends in the middle of a row, and nothing follows", (proxy) => proxy.cutRow(ROW, "hang")],
];

describe.each([
  ["a server", (bytes: Buffer) => bytes],
  ["a pooler", announceOtherProcess],
])("work under way at %s", (_at, rewrite) => {
  test.each(LOSSES)("everything under way settles at once when %s", async (_what, fault) => {
    // With no connection left for what is queued, and with one.
    for (const spare of [0, 1]) {
      await using proxy = await faultProxy(server.port, rewrite);
      const db = await open(proxy.port, { max: CONNECTIONS + spare, answerLimitMs: LONG_MS });
      const { transactions, queued } = await underFault(db, CONNECTIONS, () => fault(proxy));
      expect(new Set(transactions)).toEqual(new Set(["DATABASE_LOST"]));
      expect(["DATABASE_LOST", "ok"]).toEqual(expect.arrayContaining([...new Set(queued)]));
      expect(await outcome(db.sql`select ${1}::int`)).toBe("ok");
      await db.close();
    }
  });

  test.each(SILENCES)("everything under way settles within its limit when %s", async (_what, fault) => {
    await using proxy = await faultProxy(server.port, rewrite);
    const db = await open(proxy.port, { answerLimitMs: SHORT_MS });
    const { transactions, queued } = await underFault(db, CONNECTIONS, () => fault(proxy));
    expect(new Set(transactions)).toEqual(new Set(["DATABASE_TIMEOUT"]));
    const allowed = ["DATABASE_TIMEOUT", "DATABASE_LOST", "ok"];
    expect(allowed).toEqual(expect.arrayContaining([...new Set(queued)]));
    await db.close();
  });

  test("everything under way settles within its limit when the server's processes hang", async () => {
    await using proxy = await faultProxy(server.port, rewrite);
    const db = await open(proxy.port, { answerLimitMs: SHORT_MS });
    let halted: number[] = [];
    const halt = async () => {
      halted = await backends();
      for (const pid of halted) process.kill(pid, "SIGSTOP");
    };
    try {
      const { transactions } = await underFault(db, CONNECTIONS, halt);
      expect(new Set(transactions)).toEqual(new Set(["DATABASE_TIMEOUT"]));
    } finally {
      for (const pid of halted) process.kill(pid, "SIGCONT");
    }
    await db.close();
  });

  test("everything settles with close(), also what waits behind connections that were given up before", async () => {
    await using proxy = await faultProxy(server.port, rewrite);
    const db = await open(proxy.port, { answerLimitMs: LONG_MS });
    const silent = Promise.withResolvers<void>();
    const under = underFault(db, CONNECTIONS, () => {
      proxy.lose("answers");
      silent.resolve();
    });
    await silent.promise;
    db.renew();
    expect(await outcome(db.sql`select 1`)).toBe("ok");
    await db.close();
    const { transactions, queued } = await under;
    expect(new Set(transactions)).toEqual(new Set(["DATABASE_LOST"]));
    expect(["DATABASE_LOST", "ok"]).toEqual(expect.arrayContaining([...new Set(queued)]));
    expect(await outcome(db.sql`select 1`)).toBe("DATABASE_LOST");
    expect(await outcome(db.sql.begin((tx) => tx`select 1`))).toBe("DATABASE_LOST");
  });
});

describe("a limit of an answer", () => {
  const make = (name: string) => database.sql.unsafe(`create table ${name} (n int)`);
  const rows = async (name: string) => (await database.sql.unsafe(`select n from ${name}`)).length;

  test("gives a statement up that may have been done, and says no more than that", async () => {
    await make("done");
    await using proxy = await faultProxy(server.port);
    const db = await open(proxy.port, { answerLimitMs: SHORT_MS });
    proxy.lose("answers");
    expect(await outcome(db.sql`insert into done values (1)`)).toBe("DATABASE_TIMEOUT");
    await until("the row is there", async () => (await rows("done")) === 1);
    await db.close();
  });

  test("gives a commit up that may have been done, and says no more than that", async () => {
    await make("committed");
    await using proxy = await faultProxy(server.port);
    const db = await open(proxy.port, { answerLimitMs: SHORT_MS });
    const committing = db.sql.begin(async (tx) => {
      await tx`insert into committed values (1)`;
      proxy.lose("answers");
    });
    expect(await outcome(committing)).toBe("DATABASE_TIMEOUT");
    await until("the row is there", async () => (await rows("committed")) === 1);
    await db.close();
  });

  test.each([
    ["a server", (bytes: Buffer) => bytes],
    ["a pooler", announceOtherProcess],
  ])("keeps what was not sent from being sent later, at %s", async (_at, rewrite) => {
    const table = rewrite === announceOtherProcess ? "unsent_pooled" : "unsent";
    await make(table);
    await using proxy = await faultProxy(server.port, rewrite);
    const db = await open(proxy.port, { max: 1, answerLimitMs: SHORT_MS });
    const { sql } = db;
    let hasWorked = false;
    const work = async (tx: postgres.TransactionSql) => {
      hasWorked = true;
      await tx.unsafe(`insert into ${table} values (1)`);
    };
    const waiting: Promise<string>[] = [];
    const holding = sql.begin(async (tx) => {
      await tx`select 1`;
      waiting.push(outcome(sql.unsafe(`insert into ${table} values (2)`)), outcome(sql.begin(work)));
      expect(await Promise.all(waiting)).toEqual(["DATABASE_TIMEOUT", "DATABASE_TIMEOUT"]);
      // What comes now waits for none of these connections.
      expect(await outcome(sql`select 1`)).toBe("ok");
      await tx`select ${1}::int`;
    });
    expect(await outcome(holding)).toBe("ok");
    await db.close();
    expect(await rows(table)).toBe(0);
    expect(hasWorked).toBe(false);
  });

  test("breaks the connection: the server releases the locks of the transaction", async () => {
    await make("held");
    await using proxy = await faultProxy(server.port);
    const db = await open(proxy.port, { answerLimitMs: SHORT_MS });
    const holding = db.sql.begin(async (tx) => {
      await tx`lock table held in access exclusive mode`;
      proxy.lose("answers");
      await tx`select ${1}::int`;
    });
    expect(await outcome(holding)).toBe("DATABASE_TIMEOUT");
    expect(await rows("held")).toBe(0);
    await db.close();
  });

  test("a statement that waits behind others of its transaction is ended: the server releases its locks", async () => {
    await make("waited_for");
    const db = await open(server.port, { answerLimitMs: SHORT_MS });
    const holding = db.sql.begin(async (tx) => {
      await tx`lock table waited_for in access exclusive mode`;
      // Each is answered within the limit, and the last one is not sent within it.
      const asked = [1, 2, 3].map((n) => tx`select ${n}::int, pg_sleep(${(SHORT_MS * 0.6) / 1000}::float8)`);
      await Promise.all(asked);
    });
    expect(await outcome(holding)).toBe("DATABASE_TIMEOUT");
    expect(await rows("waited_for")).toBe(0);
    await db.close();
  });

  test("gives up a statement that goes on at the server: what it does there may come later", async () => {
    await make("later");
    const db = await open(server.port, { answerLimitMs: SHORT_MS });
    const inserting = () => outcome(db.sql`insert into later values (1)`);
    await database.sql.begin(async (tx) => {
      await tx`lock table later in access exclusive mode`;
      expect(await inserting()).toBe("DATABASE_TIMEOUT");
    });
    await until("the row is there", async () => (await rows("later")) === 1);
    await db.close();
  });

  test("gives up a transaction whose statement goes on at the server: nothing of it takes effect", async () => {
    await make("undone");
    await make("locked");
    const db = await open(server.port, { answerLimitMs: SHORT_MS });
    let pid = 0;
    await database.sql.begin(async (tx) => {
      await tx`lock table locked in access exclusive mode`;
      const inserting = db.sql.begin(async (given) => {
        const [row] = await given`select pg_backend_pid() as pid`;
        pid = row!.pid;
        await given`insert into undone values (1)`;
        await given`insert into locked values (1)`;
      });
      expect(await outcome(inserting)).toBe("DATABASE_TIMEOUT");
      expect(await backends()).toContain(pid);
    });
    await until("the server has ended it", async () => !(await backends()).includes(pid));
    expect([await rows("undone"), await rows("locked")]).toEqual([0, 0]);
    await db.close();
  });

  test("leaves nothing behind at a server that looks whether its client is still there", async () => {
    await make("watched");
    const setting = `alter role postgres in database ${database.name}`;
    await database.sql.unsafe(`${setting} set client_connection_check_interval = '100ms'`);
    const db = await open(server.port, { answerLimitMs: SHORT_MS });
    await database.sql.begin(async (tx) => {
      await tx`lock table watched in access exclusive mode`;
      expect(await outcome(db.sql`insert into watched values (1)`)).toBe("DATABASE_TIMEOUT");
      await until("the server has ended it", async () => (await backends()).length === 0);
    });
    expect(await rows("watched")).toBe(0);
    await db.close();
    await database.sql.unsafe(`${setting} reset client_connection_check_interval`);
  });

  test("ends opening at a server that accepts the login and then is silent", async () => {
    await using proxy = await faultProxy(server.port);
    proxy.loseFrom("pg_backend_pid");
    const opening = open(proxy.port, { connectLimitMs: SHORT_MS, answerLimitMs: LONG_MS });
    await expect(opening).rejects.toMatchObject({
      code: "DATABASE_UNREACHABLE",
      message: "Cannot connect to the database: the database did not answer in time",
    });
  });

  test("is none for a transaction that waits for something else", async () => {
    await using proxy = await faultProxy(server.port);
    const db = await open(proxy.port, { answerLimitMs: SHORT_MS });
    const waited = db.sql.begin(async (tx) => {
      await tx`select ${1}::int`;
      // Each lasts as long as a limit does.
      for (let limits = 0; limits < 2; limits += 1)
        expect(await outcome(db.sql`select pg_sleep(600)`)).toBe("DATABASE_TIMEOUT");
      await tx`select ${2}::int`;
    });
    expect(await outcome(waited)).toBe("ok");
    await db.close();
  });
});

test("connections that broke inside transactions are let go: in months they do not fill the memory", async () => {
  await using proxy = await faultProxy(server.port);
  const db = await open(proxy.port);
  const loseOne = (n: number) =>
    db.sql.begin(async (tx) => {
      await tx`select ${n}::int`;
      proxy.cut();
      await tx`select ${n}::text`;
    });
  const timers = () => heapStats().protectedObjectTypeCounts.Timeout ?? 0;
  expect(await outcome(loseOne(0))).toBe("DATABASE_LOST");
  const before = timers();
  for (let n = 1; n <= LOSSES_IN_A_ROW; n += 1) expect(await outcome(loseOne(n))).toBe("DATABASE_LOST");
  // Each of the driver's connections has its own.
  expect(timers() - before).toBeLessThan(LOSSES_IN_A_ROW / 2);
  await db.close();
});

test("a transaction that works on after its connection was lost fails with that loss", async () => {
  await using proxy = await faultProxy(server.port);
  const db = await open(proxy.port);
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const working = db.sql.begin(async (tx) => {
    await tx`select 1`;
    begun.resolve();
    await goOn.promise;
    await tx`select 2`;
  });
  await begun.promise;
  proxy.cut();
  for (let losses = 0; losses < 2; losses += 1) {
    const lost = db.sql.begin(async (tx) => {
      await tx`select 1`;
      proxy.cut();
      await tx`select 2`;
    });
    expect(await outcome(lost)).toBe("DATABASE_LOST");
    // Until what was let go is closed.
    await new Promise((resolve) => setImmediate(resolve));
  }
  goOn.resolve();
  expect(await outcome(working)).toBe("DATABASE_LOST");
  await db.close();
});

test.each<[string, (tx: postgres.TransactionSql, closed: Promise<void>) => unknown]>([
  ["ends", async (_tx, closed) => await closed],
  ["goes on with a statement", async (tx, closed) => closed.then(() => tx`select 2`)],
  ["waits for an answer", async (tx) => await tx`select pg_sleep(600)`],
])("a transaction that %s when its connections are closed fails, and ends no process", async (_how, goOn) => {
  for (const isLeft of [false, true]) {
    await using proxy = await faultProxy(server.port);
    const db = await open(proxy.port, { closeLimitMs: 100 });
    const begun = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const working = outcome(
      db.sql.begin(async (tx) => {
        await tx`select 1`;
        begun.resolve();
        await goOn(tx, closed.promise);
      }),
    );
    await begun.promise;
    if (isLeft) db.renew();
    await db.close();
    await until("no connection is left", () => proxy.open() === 0);
    closed.resolve();
    expect(await working).toBe("DATABASE_LOST");
    // Until the driver has written what it would write.
    for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  }
});
