/** A store of a hundred thousand rows that wait, and how much of it a process looks at. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { OUTBOX_LIMITS } from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import { openPostgresStore } from "../../../lib/webhook/store/postgres/store.ts";
import type { Store } from "../../../lib/webhook/store/sql.ts";
import { openSqliteStore } from "../../../lib/webhook/store/sqlite/store.ts";
import type { TestDatabase } from "../../support/postgres.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createStateDatabase } from "./postgres-state.ts";
import { acceptAll, acceptRows, alertsOf, START_MS } from "./state-fixture.ts";

/** How often the first rows are repeated: two messages, an issue and a comment. */
const TIMES = 25_000;
/** The distance of a row's id and its next repetition's. */
export const STEP = 10;

/** A store that is full: of a file the bytes, of a database the rows that processes have looked at, and all. */
type FullStore = { open(): Promise<Store>; lookedAt(): Promise<number>; all(): Promise<number> };

/** How much a process looks at in `call`, as a share of all. */
export type ShareOf = (call: (state: State) => Promise<unknown>) => Promise<number>;

/**
 * Repeats the rows that wait.
 *
 * Shape: `changes` are expressions for columns, in which `i` is the number of the repetition.
 */
export async function repeat(store: Store, times: number, changes: Record<string, string>): Promise<void> {
  await store.write(async (sql) => {
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

async function open(full: FullStore): Promise<{ store: Store; state: State }> {
  const store = await full.open();
  const limits = { ...OUTBOX_LIMITS, rows: 1_000_000 };
  const state = outboxOn(store, { limits, comments: true, log: silentLog });
  await state.lead();
  return { store, state };
}

async function fill(full: FullStore, changes: Record<string, string>): Promise<ShareOf> {
  const { store, state } = await open(full);
  await acceptAll(state, ...alertsOf("f f-"));
  await repeat(store, TIMES, changes);
  await state.close();
  // What is looked at by a process that accepts an alert, for which it counts what waits, and then makes a call.
  const costOf = async (call: (state: State) => Promise<unknown>) => {
    const before = await full.lookedAt();
    const { state } = await open(full);
    await acceptRows(state, "first");
    await call(state);
    await state.close();
    return (await full.lookedAt()) - before;
  };
  const nothing = await costOf(async () => {});
  return async (call) => ((await costOf(call)) - nothing) / (await full.all());
}

/** A file that is full of rows with `changes` (see `repeat`). */
export async function withFullFile(
  changes: Record<string, string>,
  use: (shareOf: ShareOf) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-many-"));
  const full = {
    open: () => openSqliteStore({ directory, nowMs: () => START_MS, log: silentLog }),
    lookedAt: async () => Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))![1]),
    all: async () => statSync(join(directory, "state.db")).size,
  };
  await fill(full, changes)
    .then(use)
    .finally(() => rmSync(directory, { recursive: true }));
}

/** A database that is full of rows with `changes` (see `repeat`); its statistics do not know them yet. */
export async function withFullDatabase(
  changes: Record<string, string>,
  use: (shareOf: ShareOf, sql: TestDatabase["sql"]) => Promise<void>,
): Promise<void> {
  const { database, setClock } = await createStateDatabase();
  const { sql } = database;
  await setClock(START_MS);
  // A vacuum by the server itself would be counted, and would learn of the rows.
  for (const table of ["outbox", "alert", "meta"])
    await sql.unsafe(`alter table opsctl_state.${table} set (autovacuum_enabled = false)`);
  const url = new Secret(database.url);
  const applicationName = "state under test";
  const number = async (text: string) => Number((await sql.unsafe(`select ${text} as number`))[0]!.number);
  const full = {
    // To fill it takes one statement.
    open: () => openPostgresStore({ url, log: silentLog, applicationName, answerLimitMs: 60_000 }),
    async lookedAt() {
      const sessions = `(select count(*) from pg_stat_activity where application_name = '${applicationName}')`;
      while ((await number(sessions)) > 0);
      return await number(`
        (select sum(seq_tup_read) from pg_stat_user_tables where schemaname = 'opsctl_state') +
        (select sum(idx_tup_read) from pg_stat_user_indexes where schemaname = 'opsctl_state')`);
    },
    all: async () => 4 * TIMES,
  };
  await fill(full, changes)
    .then((shareOf) => use(shareOf, sql))
    .finally(() => database.drop());
}
