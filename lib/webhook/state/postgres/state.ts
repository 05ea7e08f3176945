import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import type { Log } from "../../../platform/log/log.ts";
import type { Secret } from "../../../platform/secrets/secret.ts";
import { OUTBOX_LIMITS, type OutboxKind, type OutboxLimits, type State } from "../contract.ts";
import { acceptor } from "./accept.ts";
import { attempts } from "./attempts.ts";
import { issueClaims } from "./claims.ts";
import { StateLink } from "./connection.ts";
import { digestible, due, type FoundRows, membersOf } from "./due.ts";
import { StateOpener } from "./opener.ts";
import { operatorCalls } from "./operator.ts";
import { prune } from "./prune.ts";
import {
  deliveredBetween,
  heldReferences,
  holds,
  hourly,
  latest,
  recent,
  stats,
  waitingMessages,
} from "./reads.ts";
import { secondChannel } from "./second-channel.ts";
import { storedOrNull } from "./stored-text.ts";

/**
 * Where the state is, how much may wait in it, and whether an issue gets a comment when its alert ends.
 *
 * Shape: `mayBeAway`: a database that is away for now does not keep the state from being opened. `answerLimitMs` is how
 *        long one call waits for the database; only tests set it.
 */
export type PostgresStateOptions = {
  url: Secret;
  limits?: OutboxLimits;
  comments?: boolean;
  mayBeAway?: boolean;
  log: Log;
  applicationName: string;
  answerLimitMs?: number;
};

const ANSWER_LIMIT_MS = 4_000;
const LEASE_MS = 15_000;

/**
 * The webhook's state in the schema `opsctl_state` of a PostgreSQL, which several hosts may share.
 *
 * Shape:     see `State`; the clock is the database's.
 * Behaviour: works behind a transaction pooler. Each call ends within seconds, whatever the network does; `accept`,
 *            `begin` and `settle` are repeated after a lost connection. The role of delivering lasts 15 seconds from
 *            the last `lead`, and is given up by `close`.
 * Errors:    at the start those of `openDatabase` and `ensureStateSchema`; later those of `databaseError`. Where the
 *            database may be away at the start, its absence is an error of the later calls.
 */
export async function openPostgresState(options: PostgresStateOptions): Promise<State> {
  const { limits = OUTBOX_LIMITS, comments = false, log, answerLimitMs = ANSWER_LIMIT_MS } = options;
  const opener = new StateOpener({ ...options, answerLimitMs });
  const database = await opener.first();
  return stateOn(new StateLink(database, () => opener.again(), answerLimitMs), { limits, comments, log });
}

function stateOn(link: StateLink, options: { limits: OutboxLimits; comments: boolean; log: Log }): State {
  const holder = randomUUID();
  const calls = attempts(link, holder);
  const giveUp = giverUp(calls.settle, options.log);
  return {
    accept: acceptor(link, options),
    due: async (kind, query) => await giveUp(link.ask("read the outbox", (sql) => due(sql, kind, query))),
    digestible: async (except) => await giveUp(link.ask("read the outbox", (sql) => digestible(sql, except))),
    membersOf: async (row) => await giveUp(link.ask("read the outbox", (sql) => membersOf(sql, row))),
    ...calls,
    ...operatorCalls(link),
    ...secondChannel(link),
    ...issueClaims(link),
    waitingMessages: (most) => link.ask("count the outbox", (sql) => waitingMessages(sql, most)),
    heldReferences: (kind, references) =>
      link.ask("read the outbox", (sql) => heldReferences(sql, kind, references)),
    stats: () => link.ask("count the outbox", stats),
    latest: (fingerprint) => link.ask("read the outbox", (sql) => latest(sql, fingerprint)),
    deliveredBetween: (newerThanMs, olderThanMs) =>
      link.ask("read the outbox", (sql) => deliveredBetween(sql, newerThanMs, olderThanMs)),
    holds: () => link.ask("read which channels hold", holds),
    hold: (kind, code) =>
      link.ask("record that a channel holds", (sql) => hold(sql, kind, code), { repeats: true }),
    recent: (limit) => link.ask("read the outbox", (sql) => recent(sql, limit)),
    hourly: (hours) => link.ask("count alerts", (sql) => hourly(sql, hours)),
    prune: () => prune(link),
    lead: () => link.ask("ask who delivers", (sql) => lead(sql, holder)),
    check: () => link.ask("keep anything", check),
    movedAside: null,
    async close() {
      await link.ask("give up the lease", (sql) => resign(sql, holder)).catch(() => {});
      await link.close();
    },
  };
}

/** Gives up the rows that cannot be read, and returns the others. */
function giverUp(
  settle: State["settle"],
  log: Log,
): (finding: Promise<FoundRows>) => Promise<FoundRows["rows"]> {
  return async (finding) => {
    const { rows, unreadable } = await finding;
    for (const row of unreadable) {
      log.error("An alert in the state cannot be read", { row });
      await settle(row, { status: "dead", code: "alert_unreadable" });
    }
    return rows;
  };
}

async function hold(sql: postgres.Sql, kind: OutboxKind, code: string | null): Promise<void> {
  await sql`select opsctl_state.hold(${kind}::text, ${storedOrNull(code)}::text)`;
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
