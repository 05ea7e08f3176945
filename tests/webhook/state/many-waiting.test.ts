/** How much a store reads for one call of the service while tens of thousands of rows wait. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { OUTBOX_KINDS, State } from "../../../lib/webhook/state/contract.ts";
import { openPostgresState } from "../../../lib/webhook/state/postgres/state.ts";
import { openSqliteState } from "../../../lib/webhook/state/sqlite/state.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createStateDatabase } from "../support/postgres-state.ts";
import { resolvedAlert, sampleAlert } from "../support/sample-alert.ts";
import { acceptRows, DELIVERED, MINUTE_MS, retryAfter, START_MS } from "../support/state-fixture.ts";

/** A store full of rows that wait. */
type FullStore = {
  open(): Promise<State>;
  setClock(ms: number): unknown;
  /** How many bytes of it a call reads, made on a state that was just opened. */
  bytesReadBy(call: (state: State) => Promise<unknown>): Promise<number>;
  /** How many bytes it has. */
  size(): Promise<number>;
  remove(): Promise<unknown>;
};

const WAITING = 15_000;
const BATCH = 1_000;
/** A fingerprint in the middle of all. */
const MIDDLE = `f${WAITING / 2}`;
/** What one call may read of everything: far less than a walk along all rows, or along an index with their rows. */
const SHARE = 1 / 10;
/** The same for those that look at a thousand fingerprints, however many wait. */
const LARGER_SHARES: Record<string, number> = { "due(issue)": 1 / 4, digestible: 1 / 4 };

const due = (kind: (typeof OUTBOX_KINDS)[number]) => (state: State) =>
  state.due(kind, { limit: 8, except: [], issueGraceMs: 2_000 });

/** What the service finds out every second, and for each message. */
const READS: Record<string, (state: State) => Promise<unknown>> = {
  "due(message)": due("message"),
  "due(issue)": due("issue"),
  "due(comment)": due("comment"),
  digestible: (state) => state.digestible([]),
  waitingMessages: (state) => state.waitingMessages(50),
  unheard: (state) => state.unheard(MINUTE_MS),
  begunWithin: (state) => state.begunWithin("message", MINUTE_MS),
  deliveredBetween: (state) => state.deliveredBetween(MINUTE_MS, 0),
  heldReferences: (state) => state.heldReferences("message", ["a", "b"]),
  unacknowledged: (state) => state.unacknowledged(["a", "b"]),
  issueClaim: (state) => state.issueClaim(MIDDLE),
  recent: (state) => state.recent(50),
};

/** What an alert costs. */
const WRITES: typeof READS = {
  accept: (state) =>
    state.accept([[sampleAlert({ fingerprint: MIDDLE }), sampleAlert({ fingerprint: "another" })]]),
  "begin and settle": async (state) => {
    const [row] = await acceptRows(state, "f2");
    await state.begin(row, { text: "t" });
    await state.settle(row, retryAfter(0));
    await state.settle(row, DELIVERED);
  },
  dropQueued: (state) => state.dropQueued([77]),
};

let store: FullStore;
afterEach(() => store.remove());

/** Alerts of as many fingerprints, every fourth one firing, every ninth one high. */
async function fill(): Promise<void> {
  const state = await store.open();
  for (let at = 0; at < WAITING; at += BATCH) {
    const requests = Array.from({ length: BATCH }, (_, more) => {
      const changes = { fingerprint: `f${at + more}`, severity: more % 9 === 0 ? "high" : "warning" };
      return [more % 4 === 0 ? sampleAlert(changes) : resolvedAlert(changes)];
    });
    await state.accept(requests);
  }
  await state.close();
}

async function expectLittleRead(calls: typeof READS): Promise<void> {
  const size = await store.size();
  for (const [name, call] of Object.entries(calls)) {
    const bytes = await store.bytesReadBy(call);
    const most = size * (LARGER_SHARES[name] ?? SHARE);
    expect([name, bytes, bytes > 0 && bytes < most]).toEqual([name, bytes, true]);
  }
}

/** A file, read by the pages that a connection with nothing in memory asks the kernel for. */
function fileStore(): FullStore {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-many-"));
  let clockMs = START_MS;
  const open = () => openSqliteState({ directory, nowMs: () => clockMs, comments: true, log: silentLog });
  const bytesRead = () => Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))![1]);
  return {
    open,
    setClock(ms) {
      clockMs = ms;
    },
    async bytesReadBy(call) {
      const state = await open();
      const before = bytesRead();
      await call(state);
      const bytes = bytesRead() - before;
      await state.close();
      return bytes;
    },
    size: async () => statSync(join(directory, "state.db")).size,
    remove: async () => rmSync(directory, { recursive: true }),
  };
}

/** A database, read by the pages that it counts for each table once a session has ended. */
async function postgresStore(): Promise<FullStore & { analyze(): Promise<unknown> }> {
  const { database, setClock } = await createStateDatabase();
  await setClock(START_MS);
  const { sql } = database;
  // The server's own vacuum would be counted among what a call reads, and would learn of the rows before `analyze`.
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'opsctl_state'`;
  for (const { name } of tables)
    await sql.unsafe(`alter table opsctl_state.${name} set (autovacuum_enabled = false)`);
  const applicationName = "state under test";
  const url = new Secret(database.url);
  const open = () => openPostgresState({ url, comments: true, log: silentLog, applicationName });
  const sumOf = async (columns: string, from: string) => {
    const [row] = await sql.unsafe(
      `select sum(${columns}) as sum from ${from} where schemaname = 'opsctl_state'`,
    );
    return Number(row!.sum);
  };
  const bytesRead = async () => {
    const sessions = () => sql`select from pg_stat_activity where application_name = ${applicationName}`;
    while ((await sessions()).length > 0);
    const pages =
      "heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0) + coalesce(toast_blks_read + toast_blks_hit, 0)";
    return 8_192 * (await sumOf(pages, "pg_statio_user_tables"));
  };
  return {
    open,
    setClock,
    async bytesReadBy(call) {
      const before = await bytesRead();
      const state = await open();
      await call(state);
      await state.close();
      return (await bytesRead()) - before;
    },
    size: () => sumOf("pg_total_relation_size(relid)", "pg_stat_user_tables"),
    analyze: () => sql`analyze`,
    remove: () => database.drop(),
  };
}

describe("no call reads along all rows while many wait", () => {
  test("a file finds its rows by an index, also when all were tried", async () => {
    store = fileStore();
    await fill();
    await expectLittleRead(READS);
    await expectLittleRead(WRITES);
    const state = await store.open();
    const rows = await state.due("message", { limit: WAITING, except: [], issueGraceMs: 0 });
    await Promise.all(rows.map(({ id }) => state.settle(id, retryAfter(MINUTE_MS))));
    await state.close();
    await expectLittleRead({ "due(message)": due("message") });
    store.setClock(START_MS + MINUTE_MS);
    await expectLittleRead({ "due(message)": due("message") });
  });

  test("PostgreSQL finds its rows by an index, whether its statistics know them or not", async () => {
    const { analyze, ...database } = await postgresStore();
    store = database;
    await fill();
    await expectLittleRead(READS);
    await expectLittleRead(WRITES);
    await analyze();
    await expectLittleRead(READS);
    await expectLittleRead(WRITES);
  });
});
