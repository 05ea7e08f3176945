import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

/** The table that `sqliteDedup` works on; creating it again does nothing. */
export const SQLITE_DEDUP_TABLE = `
  create table if not exists dedup (
    key text primary key not null,
    token text not null,
    claimed_at_ms integer not null,
    expires_at_ms integer not null,
    value text
  ) strict, without rowid;
`;

/**
 * The result of a claim.
 *
 * Shape: `first` has the token with which the claim is confirmed or released; `duplicate` has the value that the
 *        confirmation of the claim in force left.
 */
export type Claim = { status: "first"; token: string } | { status: "duplicate"; value: string | null };

/** What a confirmation changes: how long the claim holds from now on, and the value that later duplicates get. */
export type Confirmation = { ttlMs: number; value: string };

/** Says whether something happens for the first time within a while; see `sqliteDedup`. */
export type SqliteDedup = {
  claim(key: string, ttlMs: number): Claim;
  /** False, and nothing is changed, when the claim with that token is not in force. */
  confirm(key: string, token: string, confirmation: Confirmation): boolean;
  /** False, and nothing is changed, when the claim with that token is not in force. */
  release(key: string, token: string): boolean;
};

/**
 * A dedup in the table of `SQLITE_DEDUP_TABLE`, which must be there.
 *
 * Behaviour: a claim holds for `ttlMs` from the moment it was made, including that moment and excluding the end; a
 *            duplicate does not extend it. It ends when the clock is set back behind it.
 * Errors:    those of SQLite.
 */
export function sqliteDedup(db: DatabaseSync, nowMs: () => number): SqliteDedup {
  const take = db.prepare(`
    insert into dedup (key, token, claimed_at_ms, expires_at_ms) values (?, ?, ?, ?)
    on conflict (key) do update set token = excluded.token, claimed_at_ms = excluded.claimed_at_ms,
      expires_at_ms = excluded.expires_at_ms, value = null
    where excluded.claimed_at_ms not between dedup.claimed_at_ms and dedup.expires_at_ms - 1`);
  const find = db.prepare("select value from dedup where key = ?");
  const inForce = "key = ? and token = ? and ? between claimed_at_ms and expires_at_ms - 1";
  const confirm = db.prepare(`update dedup set expires_at_ms = ?, value = ? where ${inForce}`);
  const release = db.prepare(`delete from dedup where ${inForce}`);
  return {
    claim(key, ttlMs) {
      // The clock is read when no other process can claim: its later claim would count as one of a clock set back.
      db.exec("begin immediate");
      try {
        const [token, now] = [randomUUID(), nowMs()];
        if (take.run(key, token, now, now + ttlMs).changes > 0) return { status: "first", token };
        return { status: "duplicate", value: find.get(key)!.value as string | null };
      } finally {
        if (db.isTransaction) db.exec("commit");
      }
    },
    confirm(key, token, { ttlMs, value }) {
      const now = nowMs();
      return confirm.run(now + ttlMs, value, key, token, now).changes > 0;
    },
    release: (key, token) => release.run(key, token, nowMs()).changes > 0,
  };
}
