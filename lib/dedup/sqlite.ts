import { randomUUID } from "node:crypto";
import type { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * The table that `sqliteDedup` works on; creating it again does nothing.
 *
 * Shape: `ttl_ms` is how long the claim was made or confirmed for, the longest it may hold when the clock was set back.
 */
export const SQLITE_DEDUP_TABLE = `
  create table if not exists dedup (
    key text primary key not null,
    token text not null,
    claimed_at_ms integer not null,
    expires_at_ms integer not null,
    ttl_ms integer not null,
    value text
  ) strict, without rowid;
  create index if not exists dedup_expires on dedup (expires_at_ms);
`;

/**
 * What became of a claim.
 *
 * Shape: `first` has the token with which the claim is confirmed or released; `duplicate` has when the claim in force
 *        was made, and the value that its confirmation left.
 * Units: `claimedAtMs` is epoch milliseconds of the dedup's clock.
 */
export type Claim =
  | { status: "first"; token: string; claimedAtMs: number }
  | { status: "duplicate"; claimedAtMs: number; value: string | null };

/** What a confirmation changes: how long the claim holds from now on, and the value that later duplicates get. */
export type Confirmation = { ttlMs?: number | undefined; value?: string | undefined };

/** Says whether something happens for the first time within a while; see `sqliteDedup`. */
export type SqliteDedup = {
  claim(key: string, ttlMs: number): Claim;
  /** False, and nothing is changed, when the claim with that token is not in force. */
  confirm(key: string, token: string, confirmation?: Confirmation): boolean;
  /** False, and nothing is changed, when the claim with that token is not in force. */
  release(key: string, token: string): boolean;
  /** Removes expired claims, at most `limit`; returns how many. */
  prune(limit?: number): number;
};

/**
 * A dedup in the table of `SQLITE_DEDUP_TABLE`, which must be there.
 *
 * Behaviour: a claim holds for `ttlMs` from the moment it was made, including that moment and excluding the end; a
 *            duplicate does not extend it. When the clock was set back, a claim holds for at most its `ttlMs` from then
 *            on. Each call is a transaction of its own, or part of the caller's: what is rolled back was never claimed.
 * Errors:    those of SQLite.
 */
export function sqliteDedup(db: DatabaseSync, nowMs: () => number): SqliteDedup {
  const statements = prepare(db);
  return {
    claim: (key, ttlMs) => claim(statements, key, ttlMs, nowMs()),
    confirm(key, token, { ttlMs, value } = {}) {
      const now = nowMs();
      const endsAtMs = ttlMs === undefined ? null : now + ttlMs;
      return statements.confirm.run(endsAtMs, ttlMs ?? null, value ?? null, key, token, now).changes > 0;
    },
    release: (key, token) => statements.release.run(key, token, nowMs()).changes > 0,
    prune: (limit = -1) => Number(statements.prune.run(nowMs(), limit).changes),
  };
}

type Statements = Record<"take" | "find" | "shorten" | "confirm" | "release" | "prune", StatementSync>;

// None of these has a `returning`: its error at the implicit commit would be lost on the way through `get`.
function prepare(db: DatabaseSync): Statements {
  return {
    take: db.prepare(`
      insert into dedup (key, token, claimed_at_ms, expires_at_ms, ttl_ms) values (?, ?, ?, ?, ?)
      on conflict (key) do update set token = excluded.token, claimed_at_ms = excluded.claimed_at_ms,
        expires_at_ms = excluded.expires_at_ms, ttl_ms = excluded.ttl_ms, value = null
      where dedup.expires_at_ms <= excluded.claimed_at_ms`),
    find: db.prepare("select token, claimed_at_ms, expires_at_ms, ttl_ms, value from dedup where key = ?"),
    shorten: db.prepare(
      "update dedup set expires_at_ms = ? where key = ? and token = ? and expires_at_ms > ?",
    ),
    confirm: db.prepare(`
      update dedup set expires_at_ms = coalesce(?, expires_at_ms), ttl_ms = coalesce(?, ttl_ms),
        value = coalesce(?, value)
      where key = ? and token = ? and expires_at_ms > ?`),
    release: db.prepare("delete from dedup where key = ? and token = ? and expires_at_ms > ?"),
    prune: db.prepare(`
      delete from dedup where key in (select key from dedup where expires_at_ms <= ? limit ?)`),
  };
}

type Entry = {
  token: string;
  claimed_at_ms: number;
  expires_at_ms: number;
  ttl_ms: number;
  value: string | null;
};

function claim(statements: Statements, key: string, ttlMs: number, now: number): Claim {
  for (;;) {
    // Read first: in a storm nearly every claim is a duplicate, and reading writes nothing.
    const entry = statements.find.get(key) as Entry | undefined;
    if (entry !== undefined && entry.expires_at_ms > now) {
      const latestEndMs = now + entry.ttl_ms;
      if (entry.expires_at_ms > latestEndMs)
        statements.shorten.run(latestEndMs, key, entry.token, latestEndMs);
      return { status: "duplicate", claimedAtMs: entry.claimed_at_ms, value: entry.value };
    }
    const token = randomUUID();
    const { changes } = statements.take.run(key, token, now, now + ttlMs, ttlMs);
    if (changes > 0) return { status: "first", token, claimedAtMs: now };
    // Outside a transaction another process may have claimed it in between.
  }
}
