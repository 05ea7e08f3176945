import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import {
  classifyDatabaseError,
  type Database,
  databaseError,
  openDatabase,
} from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import type { Sql, SqlRow, SqlValue, Store } from "../sql.ts";
import { giveUpLease, takeLease } from "./lease.ts";
import { STATE_URL, StateLink } from "./link.ts";
import { ensureStateSchema, inPostgres } from "./schema.ts";

/**
 * Where the state is.
 *
 * Shape: `mayBeUnavailable`: a database that is unavailable at the start does not keep the store from being opened; the
 *        first call that reaches it makes the schema. `answerLimitMs`, of one call: only tests set it.
 */
export type PostgresStoreOptions = {
  url: Secret;
  log: Log;
  applicationName: string;
  mayBeUnavailable?: boolean;
  answerLimitMs?: number;
};

const ANSWER_LIMIT_MS = 4_000;
/** Longer than an attempt to connect lasts. */
const PATIENCE_MS = 60_000;
/** How many rows one statement inserts: few lengths, so that few statements are prepared. */
const INSERT_LENGTHS = [256, 64, 16, 4, 1];
/** PostgreSQL's types of values, and of columns that the driver reads as a text or as true and false. */
const [BIGINT, TEXT, NUMERIC, BOOLEAN] = [20, 25, 1700, 16];

/**
 * The webhook's store in the schema `opsctl_state` of a PostgreSQL, which several hosts may share.
 *
 * Behaviour: works behind a transaction pooler. Each call ends within seconds, whatever the network does. Three
 *            connections serve all calls but `lead`, which has one of its own, so that nothing delays it.
 * Errors:    at the start those of `openDatabase` and `ensureStateSchema`; later see `StateLink`.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { answerLimitMs = ANSWER_LIMIT_MS } = options;
  const opening = (max: number) => () => open(options, { max, connectLimitMs: answerLimitMs });
  const link = new StateLink(opening(3), answerLimitMs, await openAtStart(options, { max: 3 }));
  const leaseLink = new StateLink(opening(1), answerLimitMs);
  const holder = randomUUID();
  let hasLed = false;
  const write: Store["write"] = (attempt, work, more) =>
    link.transact(attempt, (sql, database) => work(sqlOn(sql, database)), more);
  return {
    holder,
    read: (attempt, work) => link.ask(attempt, (sql, database) => work(sqlOn(sql, database))),
    write,
    async lead() {
      const taking = (sql: postgres.ISql, database: Database) => takeLease(sqlOn(sql, database), holder);
      const isLeading = await leaseLink.ask("ask who delivers", taking);
      hasLed ||= isLeading;
      return isLeading;
    },
    async check() {
      const upsert = "insert into {meta} values ('checked', '1') on conflict (key) do update set value = '1'";
      await write("keep anything", (sql) => sql.run(upsert));
    },
    isRowRefused: (error) => error instanceof OpsError && error.code === "DATABASE_QUERY_FAILED",
    afterPrune: async () => {},
    reserveBytes: async () => null,
    quarantined: null,
    async close() {
      const givingUp = (sql: postgres.ISql, database: Database) => giveUpLease(sqlOn(sql, database), holder);
      if (hasLed) await leaseLink.ask("give up the lease", givingUp).catch(() => {});
      await Promise.all([leaseLink.close(), link.close()]);
    },
  };
}

type OpenSettings = Omit<Parameters<typeof openDatabase>[1], "applicationName">;

/** Nothing for a database that is unavailable, where it may be. */
async function openAtStart(options: PostgresStoreOptions, settings: OpenSettings) {
  const { mayBeUnavailable = false, log } = options;
  // Only a failure that may end by itself is waited for, and this is how one learns of it.
  const asked = new AbortController();
  const limits = { limitMs: PATIENCE_MS, unreachableLimitMs: PATIENCE_MS };
  const patience = { ...limits, signal: asked.signal, onWait: () => asked.abort() };
  try {
    return await open(options, mayBeUnavailable ? { ...settings, patience } : settings);
  } catch (error) {
    const cause = databaseError(error, "open the webhook's state", { setting: STATE_URL });
    const isUnavailable =
      asked.signal.aborted || (!(error instanceof OpsError) && classifyDatabaseError(error).transient);
    if (!mayBeUnavailable || !isUnavailable) throw cause;
    log.error("The state's database is unavailable: alerts are sent from memory until it is back", { cause });
    return undefined;
  }
}

async function open({ url, applicationName, log }: PostgresStoreOptions, settings: OpenSettings) {
  const database = await openDatabase(url, { setting: STATE_URL, applicationName, ...settings });
  try {
    if (await ensureStateSchema(database.sql))
      log.info("Made the schema opsctl_state for the webhook's state");
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The store's statements on the pool, or in a transaction of it. */
function sqlOn(sql: postgres.ISql, { prepares }: Pick<Database, "prepares">): Sql {
  const typed = (value: SqlValue) =>
    value === null ? null : sql.typed(value as string, typeof value === "number" ? BIGINT : TEXT);
  const send = (text: string, values: readonly SqlValue[] = []) =>
    sql.unsafe<SqlRow[]>(inPostgres(text), values.map(typed), { prepare: prepares });
  return {
    async all(text, values) {
      const rows = await send(text, values);
      const numbers = rows.columns.filter(({ type }) => [BIGINT, NUMERIC, BOOLEAN].includes(type));
      for (const row of rows)
        for (const { name } of numbers) if (row[name] !== null) row[name] = Number(row[name]);
      return [...rows];
    },
    run: async (text, values) => (await send(text, values)).count,
    async insert(table, columns, rows, onConflict = "") {
      const head = inPostgres(`insert into {${table}} as old (${columns.join(", ")}) values`);
      const statements = chunksOf(rows).map((chunk) => {
        const marks = chunk.map(
          (row, at) => `(${row.map((_, column) => `$${at * row.length + column + 1}`)})`,
        );
        // Without types, so that each value has that of its column, also null.
        return sql.unsafe(`${head} ${marks} ${onConflict}`, chunk.flat(), { prepare: prepares });
      });
      await Promise.all(statements);
    },
  };
}

function chunksOf<T>(rows: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < rows.length; at += chunks.at(-1)!.length) {
    const length = INSERT_LENGTHS.find((most) => most <= rows.length - at);
    chunks.push(rows.slice(at, at + length!));
  }
  return chunks;
}
