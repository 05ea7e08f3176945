/** The calls of a state when the database does not answer, is cut off, or its answer is lost. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import { type AcceptOutcome, OUTBOX_LIMITS } from "../../../../lib/webhook/store/model.ts";
import type { State } from "../../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../../../lib/webhook/store/postgres/store.ts";
import { CommitUnknown } from "../../../../lib/webhook/store/sql.ts";
import { announceOtherProcess } from "../../../platform/support/wire.ts";
import { startTcpProxy, type TcpProxy } from "../../../standins/tcp-proxy.ts";
import { sharedPostgres, type TestDatabase } from "../../../support/postgres.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { createStateDatabase, refuseInserts, type StateDatabase } from "../../support/postgres-state.ts";
import { resolvedAlert, sampleAlert } from "../../support/sample-alert.ts";
import {
  acceptOne,
  acceptRows,
  DELIVERED,
  dueIds,
  dueRows,
  onlyDue,
  START_MS,
  start,
} from "../../support/state-fixture.ts";

const REFUSED: AcceptOutcome[] = [{ refused: "state_unavailable" }];
/** The commit was on its way: whether it ended is not known. */
const PERHAPS_KEPT: AcceptOutcome[] = [{ refused: "state_unavailable", mayBeKept: true }];

/** Ends what hangs, where the database is there all the time or comes back: no test passes or fails by it. */
const LONG_MS = 40_000;

/** The codes that a call may fail with when the database is unavailable. */
const UNAVAILABLE = /^DATABASE_(LOST|UNREACHABLE|TIMEOUT)$/;

let store: StateDatabase;
let sql: postgres.Sql;
let proxy: TcpProxy;
let state: State;

async function openThrough(
  port: number,
  answerLimitMs: number,
  { of = store.database.url, mayBeUnavailable = false } = {},
): Promise<State> {
  const url = new URL(of);
  url.port = String(port);
  const opened = await openPostgresStore({
    url: new Secret(url.href),
    log: silentLog,
    applicationName: "opsctl webhook serve",
    mayBeUnavailable,
    answerLimitMs,
  });
  return outboxOn(opened, { limits: OUTBOX_LIMITS, comments: true, log: silentLog });
}

async function untilWaiting(many = 1): Promise<void> {
  for (;;) {
    const [row] = await sql`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row!.waiting >= many) return;
  }
}

async function untilAccepted(): Promise<void> {
  while ("refused" in (await state.accept([[resolvedAlert()]]))[0]!);
}

async function countMessages(): Promise<number> {
  const [row] = await sql`select count(*)::int as messages from opsctl_state.outbox where kind = 'message'`;
  return row!.messages;
}

/** Keeps everybody from writing rows while `work` runs. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table opsctl_state.outbox in exclusive mode`;
    await work();
  });
}

beforeAll(async () => {
  store = await createStateDatabase();
  sql = store.database.sql;
});
beforeEach(() => store.empty(START_MS));
afterAll(() => store.database.drop());

describe("a state whose connections are cut", () => {
  beforeEach(async () => {
    proxy = await startTcpProxy((await sharedPostgres()).port);
    state = await openThrough(proxy.port, LONG_MS);
  });
  afterEach(async () => {
    await state.close();
    await proxy.stop();
  });

  test("says that alerts may be kept when the answer to their commit was lost, and claims one issue", async () => {
    proxy.loseAnswerTo("commit");
    expect(await state.accept([[sampleAlert()]])).toEqual(PERHAPS_KEPT);
    expect(proxy.lost).toBe(1);
    expect(await acceptOne(state, sampleAlert())).toMatchObject({ issue: { status: "duplicate" } });
    expect(await dueIds(state, "issue")).toHaveLength(1);
    expect(await countMessages()).toBe(2);
  });

  test("keeps alerts once when the connection broke before the commit", async () => {
    let accepting: Promise<AcceptOutcome[]> | undefined;
    await whileLocked(async () => {
      accepting = state.accept([[resolvedAlert()]]);
      await untilWaiting();
      proxy.cut();
    });
    expect(await accepting!).toMatchObject([{ accepted: [{ issue: { status: "not_firing" } }] }]);
    expect(await countMessages()).toBe(1);
  });

  test("does not know whether an attempt began when the answer was lost, and counts it", async () => {
    await acceptRows(state, "f1");
    await state.close();
    state = await openThrough(proxy.port, LONG_MS);
    await state.lead();
    const row = await onlyDue(state);
    proxy.loseAnswerTo("commit");
    await expect(state.begin(row, start("text"))).rejects.toThrow(CommitUnknown);
    expect(proxy.lost).toBe(1);
    await store.setClock(START_MS + 65_000);
    expect(await dueRows(state, "message")).toMatchObject([
      { attempts: 1, ambiguous: 1, sent: { text: "text" } },
    ]);
  });

  test.each(["40001", "40P01"])("tries again what the database rolled back with %s", async (code) => {
    await refuseInserts(sql, "f1", { code, times: 2 });
    await acceptOne(state, resolvedAlert());
    await sql`drop trigger refuse on opsctl_state.outbox`;
    expect(await countMessages()).toBe(1);
  });

  test("accepts what comes while the database is unavailable for a moment", async () => {
    proxy.close();
    const accepting = state.accept([[resolvedAlert()]]);
    await expect(state.lead()).rejects.toMatchObject({ code: expect.stringMatching(UNAVAILABLE) });
    proxy.open();
    expect(await accepting).toMatchObject([{ accepted: [{}] }]);
    expect(await state.lead()).toBe(true);
  });

  test("keeps the lease while every other connection waits", async () => {
    expect(await state.lead()).toBe(true);
    let waiting: Promise<unknown>[] = [];
    await whileLocked(async () => {
      waiting = Array.from({ length: 5 }, () => state.accept([[resolvedAlert()]]));
      await untilWaiting(3);
      expect(await state.lead()).toBe(true);
    });
    await Promise.all(waiting);
  });
});

describe("a state whose database stays unavailable", () => {
  test("refuses alerts, does not lead, throws for the rest, and goes on when it is back", async () => {
    proxy = await startTcpProxy((await sharedPostgres()).port);
    state = await openThrough(proxy.port, 1_000);
    proxy.close();
    for (let times = 0; times < 3; times += 1)
      expect(await state.accept([[resolvedAlert()], [resolvedAlert()]])).toEqual([...REFUSED, ...REFUSED]);
    for (const call of [
      () => state.lead(),
      () => state.stats(),
      () => dueRows(state, "message"),
      () => state.begin({ id: 1, attempts: 0 }, start("text")),
      () => state.finish(1, DELIVERED),
      () => state.check(),
      () => state.prune(),
    ])
      await expect(call()).rejects.toMatchObject({ code: expect.stringMatching(UNAVAILABLE) });
    proxy.open();
    await untilAccepted();
    await state.close();
    await proxy.stop();
  });

  test("is not waited for longer than the limit when somebody holds a lock, and keeps nothing later", async () => {
    state = await openThrough((await sharedPostgres()).port, 1_000);
    await whileLocked(async () => {
      const begunMs = performance.now();
      expect(await state.accept([[resolvedAlert({ fingerprint: "late" })]])).toEqual(REFUSED);
      expect(performance.now() - begunMs).toBeLessThan(5_000);
    });
    await untilAccepted();
    await state.close();
    const late = await sql`select from opsctl_state.outbox where fingerprint = 'late'`;
    expect(late).toHaveLength(0);
  });

  test("is found by new connections when the old ones end in silence", async () => {
    proxy = await startTcpProxy((await sharedPostgres()).port);
    state = await openThrough(proxy.port, 2_000);
    // All connections of the pool, because the next call must not find one that still works.
    await Promise.all(Array.from({ length: 8 }, () => state.stats()));
    await acceptOne(state, resolvedAlert());
    proxy.silence();
    expect(await state.accept([[resolvedAlert()]])).toEqual(REFUSED);
    expect(await countMessages()).toBe(1);
    const before = proxy.connections;
    await untilAccepted();
    expect(proxy.connections).toBeGreaterThan(before);
    await state.close();
    await proxy.stop();
  });
});

test("a state whose database takes no writes can be read all the time, and is written as soon as it does", async () => {
  const { name } = store.database;
  await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
  state = await openThrough((await sharedPostgres()).port, LONG_MS);
  for (let round = 0; round < 30; round += 1) {
    const check = state.check().catch((error: unknown) => error);
    const [refused] = await Promise.all([check, state.stats(), state.recent(1), state.lanes()]);
    expect(refused).toMatchObject({ code: "DATABASE_READ_ONLY" });
    expect(await state.escalations(0)).toEqual([]);
  }
  await sql.unsafe(`alter database ${name} reset default_transaction_read_only`);
  await untilAccepted();
  await state.close();
});

describe("a state whose database is unavailable at the start", () => {
  let database: TestDatabase;
  const open = (mayBeUnavailable: boolean, limitMs = LONG_MS) =>
    openThrough(proxy.port, limitMs, { of: database.url, mayBeUnavailable });
  beforeEach(async () => {
    const server = await sharedPostgres();
    database = await server.createDatabase({ migrated: false, appSchema: false });
    proxy = await startTcpProxy(server.port);
  });
  afterEach(async () => {
    await proxy.stop();
    await database.drop();
  });

  test("is opened for the service, keeps nothing, and makes its schema when the database is there", async () => {
    proxy.vanish();
    await expect(open(false)).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    state = await open(true, 1_000);
    expect(await state.accept([[resolvedAlert()]])).toEqual(REFUSED);
    for (const call of [() => state.lead(), () => state.check()])
      await expect(call()).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    proxy.open();
    await untilAccepted();
    expect(await state.lead()).toBe(true);
    expect((await state.stats()).message.queued).toBe(1);
    await state.close();
  });

  test("is opened for the service when the connection breaks, and when the database takes no writes", async () => {
    proxy.close();
    await (await open(true)).close();
    proxy.open();
    await database.sql.unsafe(`alter database ${database.name} set default_transaction_read_only = on`);
    state = await open(true);
    expect(await state.accept([[resolvedAlert()]])).toEqual(REFUSED);
    await database.sql.unsafe(`alter database ${database.name} reset default_transaction_read_only`);
    await untilAccepted();
    await state.close();
  });

  test("is not opened with a login that is refused", async () => {
    const wrong = new URL(database.url);
    wrong.password = "wrong";
    const opening = openThrough(proxy.port, LONG_MS, { of: wrong.href, mayBeUnavailable: true });
    await expect(opening).rejects.toMatchObject({ code: "DATABASE_AUTH_FAILED" });
  });
});

test("a state behind a transaction pooler prepares nothing and works", async () => {
  await using pooler = await startTcpProxy((await sharedPostgres()).port, announceOtherProcess);
  state = await openThrough(pooler.port, LONG_MS);
  const { messageRow } = await acceptOne(state, sampleAlert());
  expect(await dueIds(state, "message")).toEqual([messageRow]);
  await state.lead();
  expect(await state.begin({ id: messageRow, attempts: 0 }, start("text"))).toBe(true);
  await state.finish(messageRow, DELIVERED);
  expect((await state.stats()).message.queued).toBe(0);
  await state.close();
});
