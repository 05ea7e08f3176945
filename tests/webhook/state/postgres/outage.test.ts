/** The state's calls when the database does not answer, is cut off, or its answer is lost. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type postgres from "postgres";
import { Secret } from "../../../../lib/platform/secrets/secret.ts";
import type { AcceptOutcome, State } from "../../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../../lib/webhook/state/postgres/state.ts";
import { announceOtherProcess, listen } from "../../../platform/support/wire.ts";
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
  onlyDue,
  retryAfter,
  START_MS,
} from "../../support/state-fixture.ts";

const REFUSED: AcceptOutcome[] = [{ refused: "state_unavailable" }];
/** The statement was on its way: whether it ended is not known. */
const PERHAPS_KEPT: AcceptOutcome[] = [{ refused: "state_unavailable", mayBeKept: true }];

/** What each statement of the state has. */
const ANY_STATEMENT = "opsctl_state.";

/** Ends what hangs, where the database is there all the time or comes back: no test passes or fails by it. */
const LONG_MS = 40_000;

/** The codes that a call may fail with when the database is away. */
const AWAY = /^DATABASE_(LOST|UNREACHABLE|TIMEOUT)$/;

let store: StateDatabase;
let sql: postgres.Sql;
let proxy: TcpProxy;
let state: State;

async function openThrough(
  port: number,
  answerLimitMs: number,
  { of = store.database.url, mayBeAway = false } = {},
): Promise<State> {
  const url = new URL(of);
  url.port = String(port);
  return openPostgresState({
    url: new Secret(url.href),
    log: silentLog,
    applicationName: "opsctl webhook serve",
    mayBeAway,
    answerLimitMs,
  });
}

async function untilWaiting(): Promise<void> {
  for (;;) {
    const [row] = await sql`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    if (row!.waiting > 0) return;
  }
}

async function untilAccepted(): Promise<void> {
  while ("refused" in (await state.accept([[resolvedAlert()]]))[0]!);
}

async function untilWell(): Promise<void> {
  while (
    !(await state.check().then(
      () => true,
      () => false,
    ))
  );
}

async function countMessages(): Promise<number> {
  const reader = await openThrough((await sharedPostgres()).port, LONG_MS);
  const { message } = await reader.stats();
  await reader.close();
  return message.queued;
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
afterAll(() => store.database.drop());

describe("a state whose connections are cut", () => {
  beforeEach(async () => {
    await store.empty(START_MS);
    proxy = await startTcpProxy((await sharedPostgres()).port);
    state = await openThrough(proxy.port, LONG_MS);
  });
  afterEach(async () => {
    await state.close();
    await proxy.stop();
  });

  test("keeps alerts, and claims one issue, when the answer to their commit was lost and the post comes again", async () => {
    proxy.loseAnswerTo(ANY_STATEMENT);
    await state.accept([[sampleAlert()]]);
    expect(proxy.lost).toBe(1);
    await acceptOne(state, sampleAlert());
    expect(await dueIds(state, "issue")).toHaveLength(1);
    expect(await countMessages()).toBeGreaterThan(1);
  });

  test("keeps alerts once when the connection broke while the statement was on its way", async () => {
    let accepting: Promise<AcceptOutcome[]> | undefined;
    await whileLocked(async () => {
      accepting = state.accept([[resolvedAlert()]]);
      await untilWaiting();
      proxy.cut();
    });
    expect(await accepting!).toMatchObject([{ accepted: [{ issue: { status: "not_firing" } }] }]);
    expect(await countMessages()).toBe(1);
  });

  test("records once that an attempt begins and fails, although the answers were lost", async () => {
    const [row, member] = await acceptRows(state, "f1", "f2");
    proxy.loseAnswerTo(ANY_STATEMENT);
    expect(await state.begin(row, { text: "both", members: [member] })).toBe(true);
    expect(await state.begunWithin("message", 1_000)).toBe(1);
    proxy.loseAnswerTo(ANY_STATEMENT);
    await state.settle(row, retryAfter(0, { isUnclear: true }));
    expect(await onlyDue(state)).toMatchObject({ attempts: 1, unclear: 1, members: [member] });
    expect(proxy.lost).toBe(2);
  });

  test("records a delivery although the answer to it was lost", async () => {
    const [row] = await acceptRows(state, "f1");
    proxy.loseAnswerTo(ANY_STATEMENT);
    await state.settle(row, DELIVERED);
    expect(proxy.lost).toBe(1);
    expect(await state.latest("f1")).toMatchObject({ message: { status: "delivered", attempts: 1 } });
  });

  test.each(["40001", "40P01"])("asks again what the database rolled back with %s", async (code) => {
    await refuseInserts(sql, "f1", { code, times: 2 });
    await acceptOne(state, resolvedAlert());
    await sql`drop trigger refuse on opsctl_state.outbox`;
    expect(await countMessages()).toBe(1);
  });

  test("accepts what comes while the database is away for a moment", async () => {
    proxy.close();
    const accepting = state.accept([[resolvedAlert()]]);
    await expect(state.lead()).rejects.toMatchObject({ code: expect.stringMatching(AWAY) });
    proxy.open();
    expect(await accepting).toMatchObject([{ accepted: [{}] }]);
    expect(await state.lead()).toBe(true);
  });
});

describe("a state whose database stays away", () => {
  test("refuses alerts, does not lead, throws for the rest, and goes on when it is back", async () => {
    await store.empty(START_MS);
    proxy = await startTcpProxy((await sharedPostgres()).port);
    state = await openThrough(proxy.port, 300);
    proxy.close();
    expect(await state.accept([[resolvedAlert()]])).toMatchObject(REFUSED);
    // From the second on it is certain that nothing is kept.
    for (let times = 0; times < 3; times += 1)
      expect(await state.accept([[resolvedAlert()], [resolvedAlert()]])).toEqual([...REFUSED, ...REFUSED]);
    for (const call of [
      () => state.lead(),
      () => state.stats(),
      () => state.due("message", { limit: 1, except: [], issueGraceMs: 0 }),
      () => state.begin(1, null),
      () => state.settle(1, DELIVERED),
      () => state.check(),
      () => state.prune(),
    ])
      await expect(call()).rejects.toMatchObject({ code: expect.stringMatching(AWAY) });
    proxy.open();
    await untilAccepted();
    await untilWell();
    await state.close();
    await proxy.stop();
  });

  test("is not waited for longer than the limit when somebody holds a lock", async () => {
    await store.empty(START_MS);
    state = await openThrough((await sharedPostgres()).port, 1_000);
    await whileLocked(async () => {
      expect(await state.accept([[resolvedAlert()]])).toEqual(PERHAPS_KEPT);
      await expect(state.check()).rejects.toMatchObject({ code: "DATABASE_TIMEOUT" });
    });
    await untilAccepted();
    await state.close();
  });

  test("is found by new connections when the old ones end in silence", async () => {
    await store.empty(START_MS);
    const { port } = await sharedPostgres();
    const silenced = new Set<Socket>();
    const relayed = new Set<Socket>();
    await using relay = await listen((socket) => {
      const upstream = connect(port, "127.0.0.1");
      relayed.add(socket);
      upstream
        .on("error", () => {})
        .on("data", (bytes) => {
          if (!silenced.has(socket)) socket.write(bytes);
        });
      socket.on("data", (bytes) => {
        if (!silenced.has(socket)) upstream.write(bytes);
      });
      socket.on("close", () => upstream.destroy());
    });
    state = await openThrough(relay.port, 3_000);
    // All connections of the pool, because the next call must not find one that still works.
    await Promise.all(Array.from({ length: 8 }, () => state.stats()));
    expect(relayed.size).toBeGreaterThanOrEqual(4);
    await acceptOne(state, resolvedAlert());
    for (const socket of relayed) silenced.add(socket);
    expect(await state.accept([[resolvedAlert()]])).toEqual(PERHAPS_KEPT);
    expect(await countMessages()).toBe(1);
    const before = relayed.size;
    await untilAccepted();
    expect(relayed.size).toBeGreaterThan(before);
    await state.close();
  });
});

test("a state whose database takes no writes can be read all the time, and is written as soon as it does", async () => {
  await store.empty(START_MS);
  const { name } = store.database;
  await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
  state = await openThrough((await sharedPostgres()).port, LONG_MS);
  for (let round = 0; round < 60; round += 1) {
    const lead = state.lead().catch((error: unknown) => error);
    const [leads] = await Promise.all([lead, state.stats(), state.recent(1), state.holds()]);
    expect(leads).toMatchObject({ code: "DATABASE_READ_ONLY" });
    expect(await state.unheard(0)).toEqual([]);
  }
  await sql.unsafe(`alter database ${name} reset default_transaction_read_only`);
  await untilAccepted();
  await state.close();
});

describe("a state whose database is away at the start", () => {
  let database: TestDatabase;
  const open = (mayBeAway: boolean, limitMs = LONG_MS) =>
    openThrough(proxy.port, limitMs, { of: database.url, mayBeAway });
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
    // The driver waits longer before each connection that is refused: the limit is above the longest of these waits.
    state = await open(true, 10_000);
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

  test("is not opened with settings that have to be changed", async () => {
    const wrong = new URL(database.url);
    wrong.password = "wrong";
    const opening = openThrough(proxy.port, LONG_MS, { of: wrong.href, mayBeAway: true });
    await expect(opening).rejects.toMatchObject({ code: "DATABASE_AUTH_FAILED" });
  });
});

test("a state behind a transaction pooler prepares nothing and works", async () => {
  await store.empty(START_MS);
  await using pooler = await startTcpProxy((await sharedPostgres()).port, announceOtherProcess);
  state = await openThrough(pooler.port, LONG_MS);
  const { messageRow } = await acceptOne(state, sampleAlert());
  expect(await dueIds(state, "message")).toEqual([messageRow]);
  await state.settle(messageRow, DELIVERED);
  expect((await state.stats()).message.queued).toBe(0);
  await state.close();
});
