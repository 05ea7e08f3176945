/** How much a store looks at for one call of the service while a hundred thousand rows wait. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../../lib/webhook/store/postgres/store.ts";
import type { Store } from "../../../lib/webhook/store/sql.ts";
import { openSqliteStore } from "../../../lib/webhook/store/sqlite/store.ts";
import { OUTBOX_LIMITS, type OutboxKind, type State } from "../../../lib/webhook/store/types.ts";
import type { TestDatabase } from "../../support/postgres.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createStateDatabase } from "../support/postgres-state.ts";
import {
  acceptAll,
  acceptRows,
  alertsOf,
  DELIVERED,
  dueIds,
  MINUTE_MS,
  MOVES,
  retryAfter,
  START_MS,
  start,
  tryOnce,
} from "../support/state-fixture.ts";
import { describeStores } from "../support/state-stores.ts";

/** How often two messages, an issue and a comment are repeated, and the distance of their ids each time. */
const TIMES = 25_000;
const STEP = 10;
/** What one call may look at, of all that there is. */
const SHARE = 1 / 4;

/** What is different in each repetition, "i". */
const SHAPES: [string, Record<string, string>][] = [
  ["of many fingerprints", { fingerprint: "'f' || i", issue_id: "issue_id || i" }],
  ["of one fingerprint", { issue_id: "issue_id || i" }],
  ["of which none is due", { fingerprint: "'f' || i", due_at: `${START_MS + MINUTE_MS}` }],
];

/** Repeats the rows that wait. */
async function repeat(store: Store, times: number, changes: Record<string, string>): Promise<void> {
  await store.write("repeat rows", async (sql) => {
    const [row] = await sql.all("select * from {outbox} limit 1");
    const columns = Object.keys(row!);
    const all = { id: `id + i * ${STEP}`, ...changes };
    const values = columns.map((name) => all[name as keyof typeof all] ?? name);
    await sql.run(`
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${times})
      insert into {outbox} (${columns.join(", ")})
      select ${values.join(", ")} from {outbox}, n where state = 'queued'`);
    const next = `cast(cast(value as bigint) + ${(times + 1) * STEP} as text)`;
    await sql.run(`update {meta} set value = ${next} where key = 'next_id'`);
  });
}

const due = (kind: OutboxKind) => (state: State) => dueIds(state, kind, { limit: 8, issueGraceMs: 2_000 });

/** What the service calls every second, for each post and for each message. */
const CALLS: Record<string, (state: State) => Promise<unknown>> = {
  "due(message)": due("message"),
  "due(issue)": due("issue"),
  "due(comment)": due("comment"),
  probe: (state) => dueIds(state, "message", { limit: 1, isProbe: true }),
  digestible: (state) => state.digestible([]),
  waitingMessages: (state) => state.waitingMessages(50),
  escalations: (state) => state.escalations(MINUTE_MS),
  deliveredBetween: (state) => state.deliveredBetween(MINUTE_MS, 0),
  heldReferences: (state) => state.heldReferences("message", ["a", "b"]),
  alertRecords: (state) => state.alertRecords(["f1", "f500"]),
  recent: (state) => state.recent(200),
  accept: (state) => acceptAll(state, ...alertsOf("f a- b!")),
  attempts: async (state) => {
    const [row, other, member] = await acceptRows(state, "x", "y", "z");
    await tryOnce(state, row, retryAfter(0));
    await tryOnce(state, other, DELIVERED, start("t", [member]));
    await MOVES["is dead"](state, row);
  },
  dropQueued: (state) => state.dropQueued([STEP * 77 + 1]),
};

/** A store of which a process may look at some: of a file bytes, of a database rows. */
type Looked = { open(): Promise<Store>; at(): Promise<number>; all(): Promise<number> };

async function open({ open }: Looked): Promise<{ store: Store; state: State }> {
  const store = await open();
  const limits = { ...OUTBOX_LIMITS, rows: 1_000_000 };
  const state = outboxOn(store, { limits, comments: true, log: silentLog });
  await state.lead();
  return { store, state };
}

/** What a process looks at that accepts an alert, for which it counts what waits, and then makes a call. */
async function costOf(looked: Looked, call: (state: State) => Promise<unknown>): Promise<number> {
  const before = await looked.at();
  const { state } = await open(looked);
  await acceptRows(state, "first");
  await call(state);
  await state.close();
  return (await looked.at()) - before;
}

async function fill(looked: Looked, changes: Record<string, string>): Promise<void> {
  const { store, state } = await open(looked);
  await acceptAll(state, ...alertsOf("f f-"));
  await repeat(store, TIMES, changes);
  await state.close();
}

async function expectBounded(looked: Looked, except = ""): Promise<void> {
  const most = (await looked.all()) * SHARE;
  const without = await costOf(looked, async () => {});
  for (const [name, call] of Object.entries(CALLS)) {
    if (name === except) continue;
    const cost = (await costOf(looked, call)) - without;
    expect([name, cost, most, cost < most]).toEqual([name, cost, most, true]);
  }
}

async function withFile(use: (looked: Looked) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-many-"));
  await use({
    open: () => openSqliteStore({ directory, nowMs: () => START_MS, log: silentLog }),
    at: async () => Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))![1]),
    all: async () => statSync(join(directory, "state.db")).size,
  }).finally(() => rmSync(directory, { recursive: true }));
}

async function withDatabase(use: (looked: Looked, sql: TestDatabase["sql"]) => Promise<void>): Promise<void> {
  const { database, setClock } = await createStateDatabase();
  const { sql } = database;
  await setClock(START_MS);
  // A vacuum by the server itself would be counted, and would learn of the rows.
  for (const table of ["outbox", "alert", "meta", "hour"])
    await sql.unsafe(`alter table opsctl_state.${table} set (autovacuum_enabled = false)`);
  const url = new Secret(database.url);
  const applicationName = "state under test";
  const number = async (text: string) => Number((await sql.unsafe(`select ${text} as number`))[0]!.number);
  const looked = {
    open: () => openPostgresStore({ url, log: silentLog, applicationName }),
    async at() {
      const sessions = `(select count(*) from pg_stat_activity where application_name = '${applicationName}')`;
      while ((await number(sessions)) > 0);
      return await number(`
        (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = 'opsctl_state') +
        (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = 'opsctl_state')`);
    },
    all: async () => 4 * TIMES,
  };
  await use(looked, sql).finally(() => database.drop());
}

describe.each(SHAPES)("with a hundred thousand rows %s", (_, changes) => {
  test("a file finds what it needs by an index", async () => {
    await withFile(async (looked) => {
      await fill(looked, changes);
      await expectBounded(looked);
    });
  }, 60_000);

  test("PostgreSQL finds what it needs by an index, whether its statistics know of it or not", async () => {
    await withDatabase(async (looked, sql) => {
      await fill(looked, changes);
      // The status page may be slow until then.
      await expectBounded(looked, "recent");
      await sql`analyze`;
      await expectBounded(looked);
    });
  }, 60_000);
});

describeStores(({ test }) => {
  test("a row is found behind 4,999 that may not go, and waits behind more", async ({ state, store }) => {
    const [first] = await acceptRows(state, "f");
    await repeat(store, 4_999, {});
    await tryOnce(state, first, retryAfter(MINUTE_MS));
    const [other] = await acceptRows(state, "other");
    expect(await dueIds(state, "message")).toEqual([]);
    await state.dropQueued([first + STEP]);
    expect(await dueIds(state, "message")).toEqual([other]);
  });
});
