import {
  classifyDatabaseError,
  type Database,
  databaseError,
  openDatabase,
} from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import { ensureStateSchema } from "./schema.ts";

/** What is opened, and how; see `PostgresStateOptions`. */
export type StateOpenerOptions = {
  url: Secret;
  applicationName: string;
  mayBeAway?: boolean;
  answerLimitMs: number;
  log: Log;
};

/** The setting that has the URL of the state's database. */
export const STATE_URL = "OPSCTL_STATE_URL";
const CONNECTIONS = 4;
/** One that says it is away, or drops what is sent to it, is asked once more. */
const PATIENCE_MS = 30_000;

/**
 * Opens the state's database, and makes the schema before anything uses it.
 *
 * Behaviour: `first` returns null for a database that is away, where it may be; then the first `again` that reaches it
 *            makes the schema.
 * Errors:    those of `openDatabase` and `ensureStateSchema`, about OPSCTL_STATE_URL.
 */
export class StateOpener {
  readonly #options: StateOpenerOptions;
  #isMade = false;

  constructor(options: StateOpenerOptions) {
    this.#options = options;
  }

  async first(): Promise<Database | null> {
    const { mayBeAway = false, log } = this.#options;
    const asked = new AbortController();
    // Only a failure that may end by itself is waited for, and this is how one learns of it.
    const patience = {
      limitMs: PATIENCE_MS,
      unreachableLimitMs: PATIENCE_MS,
      signal: asked.signal,
      onWait: () => asked.abort(),
    };
    try {
      return await this.#open(mayBeAway ? { patience } : {});
    } catch (error) {
      const fault = databaseError(error, "open the webhook's state", { setting: STATE_URL });
      if (!mayBeAway || !(asked.signal.aborted || isAway(error))) throw fault;
      log.error("The state's database is away at the start: alerts are sent from memory until it is back", {
        cause: fault,
      });
      return null;
    }
  }

  async again(): Promise<Database> {
    const wasMade = this.#isMade;
    const database = await this.#open({ connectLimitMs: this.#options.answerLimitMs });
    if (!wasMade) this.#options.log.info("The state's database is there");
    return database;
  }

  async #open(more: Partial<Parameters<typeof openDatabase>[1]>): Promise<Database> {
    const { url, applicationName, answerLimitMs, log } = this.#options;
    const settings = {
      setting: STATE_URL,
      max: CONNECTIONS,
      applicationName,
      closeLimitMs: Math.min(answerLimitMs, 3_000),
    };
    const database = await openDatabase(url, { ...settings, ...more });
    if (this.#isMade) return database;
    try {
      if (await ensureStateSchema(database.sql))
        log.info("Made the schema opsctl_state for the webhook's state");
    } catch (error) {
      await database.close();
      throw error;
    }
    this.#isMade = true;
    return database;
  }
}

/** Whether a statement failed because the database went away, stands behind a lock, or takes no writes for now. */
function isAway(error: unknown): boolean {
  return !(error instanceof OpsError) && classifyDatabaseError(error).transient;
}
