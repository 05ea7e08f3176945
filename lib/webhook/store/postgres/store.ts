import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { type Database, databaseError, openDatabase } from "../../../platform/database/pool.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import type { Sql, SqlRow, SqlValue, Store } from "../sql.ts";
import { Lease } from "./lease.ts";
import { type Session, STATE_URL, StateLink } from "./link.ts";
import { ensureStateSchema, inPostgres } from "./schema.ts";

/**
 * Where the state is.
 *
 * Shape: `mayBeUnavailable`: a database that is unavailable for now does not keep the store from being opened; the first
 *        call that reaches it makes the schema. `answerLimitMs` is how long one call waits for the database; only tests
 *        set it.
 */
export type PostgresStoreOptions = {
  url: Secret;
  log: Log;
  applicationName: string;
  mayBeUnavailable?: boolean;
  answerLimitMs?: number;
};

const ANSWER_LIMIT_MS = 4_000;
const CONNECTIONS = 3;
/** One that says it is unavailable, or drops what is sent to it, is asked once more. */
const PATIENCE_MS = 30_000;

/**
 * The webhook's store in the schema `opsctl_state` of a PostgreSQL, which several hosts may share.
 *
 * Behaviour: works behind a transaction pooler. Each call ends within seconds, whatever the network does. Three
 *            connections for everything, and one more for the lease, so that nothing delays its renewal.
 * Errors:    at the start those of `openDatabase` and `ensureStateSchema`; later see `StateLink`. Where the database may
 *            be unavailable at the start, that is an error of the later calls.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { answerLimitMs = ANSWER_LIMIT_MS } = options;
  const opener = new Opener(options, answerLimitMs);
  const link = new StateLink(() => opener.again(CONNECTIONS), answerLimitMs, await opener.first());
  const holder = randomUUID();
  const lease = new Lease(new StateLink(() => opener.again(1), answerLimitMs), holder);
  const write: Store["write"] = (attempt, work, more) =>
    link.transact(attempt, (session) => work(sqlOn(session)), more);
  return {
    holder,
    read: (attempt, work) => link.ask(attempt, (session) => work(sqlOn(session))),
    write,
    lead: () => lease.lead(),
    async check() {
      await write("keep anything", (sql) =>
        sql.run(`insert into {meta} (key, value) values ('checked', '1')
          on conflict (key) do update set value = excluded.value`),
      );
    },
    afterPrune: async () => {},
    reserveBytes: async () => null,
    quarantined: null,
    async close() {
      await Promise.all([lease.close(), link.close()]);
    },
  };
}

class Opener {
  readonly #options: PostgresStoreOptions;
  readonly #answerLimitMs: number;
  #isMade = false;

  constructor(options: PostgresStoreOptions, answerLimitMs: number) {
    this.#options = options;
    this.#answerLimitMs = answerLimitMs;
  }

  /** Returns nothing for a database that is unavailable, where it may be. */
  async first(): Promise<Database | undefined> {
    const { mayBeUnavailable = false, log } = this.#options;
    const asked = new AbortController();
    // Only a failure that may end by itself is waited for, and this is how one learns of it.
    const patience = {
      limitMs: PATIENCE_MS,
      unreachableLimitMs: PATIENCE_MS,
      signal: asked.signal,
      onWait: () => asked.abort(),
    };
    try {
      return await this.#open({ max: CONNECTIONS, ...(mayBeUnavailable && { patience }) });
    } catch (error) {
      const cause = databaseError(error, "open the webhook's state", { setting: STATE_URL });
      if (!mayBeUnavailable || !(asked.signal.aborted || isUnavailable(error))) throw cause;
      log.error(
        "The state's database is unavailable at the start: alerts are sent from memory until it is back",
        { cause },
      );
      return undefined;
    }
  }

  async again(max: number): Promise<Database> {
    const wasMade = this.#isMade;
    const database = await this.#open({ max, connectLimitMs: this.#answerLimitMs });
    if (!wasMade) this.#options.log.info("The state's database is there");
    return database;
  }
}
