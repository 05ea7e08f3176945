import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { ISSUE_TTL_MS, type IssueClaim, type State } from "../../../contract.ts";
import { issueKey } from "../../../stored.ts";
import type { Transaction } from "../transaction.ts";

/** The claims on issues, apart from rows. */
export type IssueClaims = {
  find(fingerprint: string): IssueClaim | null;
  remember(issues: Parameters<State["rememberIssues"]>[0]): void;
};

/** Errors: those of SQLite. */
export function issueClaims(dependencies: {
  db: DatabaseSync;
  nowMs: () => number;
  transaction: Transaction;
}): IssueClaims {
  const { db, nowMs, transaction } = dependencies;
  const find = db.prepare(
    "select claimed_at_ms as claimedAtMs, value as url from dedup where key = ? and expires_at_ms > ?",
  );
  const remember = db.prepare(`
    insert into dedup (key, token, claimed_at_ms, expires_at_ms, ttl_ms, value) values (?1, ?2, ?3, ?4, ?5, ?6)
    on conflict (key) do update set token = excluded.token, claimed_at_ms = excluded.claimed_at_ms,
      expires_at_ms = excluded.expires_at_ms, ttl_ms = excluded.ttl_ms, value = excluded.value
    where dedup.expires_at_ms <= ?7`);
  return {
    find(fingerprint) {
      const row = find.get(issueKey(fingerprint), nowMs()) as IssueClaim | undefined;
      return row === undefined ? null : { ...row };
    },
    remember(issues) {
      const now = nowMs();
      transaction(() => {
        for (const { fingerprint, claimedAtMs, url } of issues) {
          const endsAtMs = Math.min(claimedAtMs, now) + ISSUE_TTL_MS;
          const claim = [issueKey(fingerprint), randomUUID(), claimedAtMs, endsAtMs] as const;
          remember.run(...claim, ISSUE_TTL_MS, url, now);
        }
      });
    },
  };
}
