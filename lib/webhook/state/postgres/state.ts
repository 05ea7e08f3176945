import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { aboutStateUrl } from "../../../platform/config/about-state-url.ts";
import { databaseError, openDatabase } from "../../../platform/database/pool.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import {
  ISSUE_TTL_MS,
  KEEP_DELIVERED_MS,
  OUTBOX_LIMITS,
  type OutboxLimits,
  type Settlement,
  type State,
} from "../contract.ts";
import { acceptor } from "./accept.ts";
import { StateLink } from "./connection.ts";
import { deliveredWithin, due, latest, listDead, stats } from "./reads.ts";
import { ensureStateSchema } from "./schema.ts";
import { storedText } from "./stored-text.ts";

/** Where the state is; `answerLimitMs` is how long one call waits for the database; only tests set it. */
export type PostgresStateOptions = {
  url: Secret;
  limits?: OutboxLimits;
  log: Log;
  applicationName: string;
  answerLimitMs?: number;
};

const CONNECTIONS = 4;
const ANSWER_LIMIT_MS = 4_000;
/** For the calls that an operator waits for. */
const PATIENT_LIMIT_MS = 60_000;
const LEASE_MS = 15_000;
/** Longer than any host asks again about a batch. */
const KEEP_BATCHES_MS = 10 * 60_000;
const PRUNE_SHARE = 5_000;

/**
 * The webhook's state in the schema `opsctl_state` of a PostgreSQL, which several hosts may share.
 *
 * Shape:     see `State`; the clock is the database's.
 * Behaviour: works behind a transaction pooler. Each call ends within seconds, whatever the network does; `accept` and
 *            `settle` are repeated after a lost connection. The role of delivering lasts 15 seconds from the last `lead`,
 *            and is given up by `close`.
 * Errors:    at the start those of `openDatabase` and `ensureStateSchema`; later those of `databaseError`.
 */
export async function openPostgresState(options: PostgresStateOptions): Promise<State> {
  const { url, limits = OUTBOX_LIMITS, log, applicationName, answerLimitMs = ANSWER_LIMIT_MS } = options;
  const settings = { max: CONNECTIONS, applicationName, closeLimitMs: Math.min(answerLimitMs, 3_000) };
  try {
    const database = await openDatabase(url, settings);
    try {
      if (await ensureStateSchema(database.sql))
        log.info("Made the schema opsctl_state for the webhook's state");
    } catch (error) {
      await database.close();
      throw error;
    }
    const again = () => openDatabase(url, { ...settings, connectLimitMs: answerLimitMs });
    return stateOn(new StateLink(database, again, answerLimitMs), { limits, log });
  } catch (error) {
    throw aboutStateUrl(databaseError(error, "open the webhook's state"));
  }
}

function stateOn(link: StateLink, { limits, log }: { limits: OutboxLimits; log: Log }): State {
  const holder = randomUUID();
  return {
    accept: acceptor(link, { limits, log }),
    async due(kind, query) {
      const { rows, unreadable } = await link.ask("read the outbox", (sql) => due(sql, kind, query));
      for (const row of unreadable) {
        log.error("An alert in the state cannot be read", { row });
        const dead = { status: "dead", code: "alert_unreadable" } as const;
        await link.ask("record a delivery", (sql) => settle(sql, row, dead), { repeats: true });
      }
      return rows;
    },
    settle: (row, settlement) =>
      link.ask("record a delivery", (sql) => settle(sql, row, settlement), { repeats: true }),
    stats: () => link.ask("count the outbox", stats),
    listDead: () => link.ask("list dead rows", listDead, { limitMs: PATIENT_LIMIT_MS }),
    retryDead: (rows) =>
      link.ask("revive dead rows", (sql) => changeDead(sql, "retry", rows), { limitMs: PATIENT_LIMIT_MS }),
    dropDead: (rows) =>
      link.ask("remove dead rows", (sql) => changeDead(sql, "drop", rows), { limitMs: PATIENT_LIMIT_MS }),
    deliveredWithin: (kind, ms) => link.ask("count deliveries", (sql) => deliveredWithin(sql, kind, ms)),
    latest: (fingerprint) => link.ask("read the outbox", (sql) => latest(sql, fingerprint)),
    prune: () => prune(link),
    lead: () => link.ask("ask who delivers", (sql) => lead(sql, holder)).catch(() => false),
    check: () => link.ask("keep anything", check),
    movedAside: null,
    async close() {
      await link.ask("give up the lease", (sql) => resign(sql, holder)).catch(() => {});
      await link.close();
    },
  };
}

async function settle(sql: postgres.Sql, row: number, settlement: Settlement): Promise<void> {
  const { status } = settlement;
  const delayMs = status === "retry" ? Math.ceil(settlement.delayMs) : null;
  const code = status === "delivered" ? null : storedText(settlement.code);
  const { reference, url } = status === "delivered" ? settlement : { reference: null, url: null };
  await sql`
    select opsctl_state.settle(
      ${row}::bigint, ${status}::text, ${delayMs}::bigint, ${code}::text, ${stored(reference)}::text, ${stored(url)}::text)`;
}

async function changeDead(
  sql: postgres.Sql,
  change: "retry" | "drop",
  rows: readonly number[] | null,
): Promise<number> {
  const wanted = rows === null ? null : JSON.stringify(rows);
  const [row] =
    change === "retry"
      ? await sql`select opsctl_state.retry_dead(${wanted}::text::json, ${ISSUE_TTL_MS}::bigint) as count`
      : await sql`select opsctl_state.drop_dead(${wanted}::text::json) as count`;
  return Number(row!.count);
}

/** In short steps: between them the same connections do other work. */
async function prune(link: StateLink): Promise<void> {
  const attempt = "remove old rows";
  await link.ask(attempt, async (sql) => await sql`select opsctl_state.prune_dedup()`);
  while (await link.ask(attempt, pruneShare));
}

async function pruneShare(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql`
    select opsctl_state.prune_outbox(
      ${KEEP_DELIVERED_MS}::bigint, ${KEEP_BATCHES_MS}::bigint, ${PRUNE_SHARE}::bigint) as more`;
  return row!.more;
}

async function lead(sql: postgres.Sql, holder: string): Promise<boolean> {
  const [row] = await sql`select opsctl_state.lead(${holder}::uuid, ${LEASE_MS}::bigint) as leads`;
  return row!.leads;
}

async function resign(sql: postgres.Sql, holder: string): Promise<void> {
  await sql`delete from opsctl_state.lease where holder = ${holder}::uuid`;
}

async function check(sql: postgres.Sql): Promise<void> {
  await sql`select opsctl_state.check_writable()`;
}

function stored(text: string | null): string | null {
  return text === null ? null : storedText(text);
}
