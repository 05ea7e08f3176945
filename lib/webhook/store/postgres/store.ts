import { randomUUID } from "node:crypto";
import { classifyDatabaseError, type Database, openDatabase } from "../../../platform/database/pool.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import { takeIds } from "../ids.ts";
import type { Store } from "../sql.ts";
import { giveUpLease, hasLease, takeLease } from "./lease.ts";
import { STATE_URL, stateLink } from "./link.ts";
import { ensureStateSchema } from "./schema.ts";

const ANSWER_LIMIT_MS = 4_000;

/**
 * The webhook's store in the schema `opsctl_state` of a PostgreSQL, which several hosts may share.
 *
 * Shape:     `mayBeUnavailable`: a database that is unavailable at the start does not keep the store from being opened;
 *            the first call that reaches it makes the schema. `answerLimitMs`, of one statement: only tests set it.
 * Behaviour: works behind a transaction pooler. Each statement ends within seconds, whatever the network does. Three
 *            connections serve all calls but `lead`, which has one of its own, so that nothing delays it.
 * Errors:    at the start those of `openDatabase` and `ensureStateSchema`; later see `stateLink`.
 */
export async function openPostgresStore(options: {
  url: Secret;
  log: Log;
  applicationName: string;
  mayBeUnavailable?: boolean;
  answerLimitMs?: number;
}): Promise<Store> {
  const { url, log, applicationName, mayBeUnavailable = false, answerLimitMs = ANSWER_LIMIT_MS } = options;
  const withSchema = async (database: Database) => {
    const isMade = ensureStateSchema(database.sql).catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
    if (await isMade) log.info("Made the schema opsctl_state in the state's database");
    return database;
  };
  const linkOf = (max: number) => {
    const limits = { connectLimitMs: answerLimitMs, answerLimitMs };
    const settings = { setting: STATE_URL, applicationName, max, ...limits };
    return stateLink(async () => await withSchema(await openDatabase(url, settings)), answerLimitMs);
  };
  const [link, leaseLink] = [linkOf(3), linkOf(1)];
  try {
    await link.ask(async () => {});
  } catch (cause) {
    if (!mayBeUnavailable || !classifyDatabaseError(cause).transient) throw cause;
    log.error("The state's database is unavailable: alerts are sent from memory until it is back", { cause });
  }
  const holder = randomUUID();
  let hasLed = false;
  return {
    leads: hasLease(holder),
    read: link.ask,
    write: link.transact,
    async lead() {
      const isLeading = await leaseLink.ask((sql) => takeLease(sql, holder));
      hasLed ||= isLeading;
      return isLeading;
    },
    // The lock that an alert needs.
    check: async () => void (await link.transact((sql) => takeIds(sql, 0))),
    afterPrune: async () => {},
    reserveBytes: async () => null,
    quarantined: null,
    async close() {
      if (hasLed) await leaseLink.ask((sql) => giveUpLease(sql, holder)).catch(() => {});
      await Promise.all([leaseLink.close(), link.close()]);
    },
  };
}
