import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Alert } from "../../../../alert/alert.ts";

/** The newest issue of a fingerprint: its row, and when it was claimed. */
export type NewestIssue = { row: number; claimedAtMs: number };

/** What an alert means for its fingerprint: a repetition, or the end of what was firing, with the issue of that. */
export type EpisodeChange = { isRepeat: boolean; ended: NewestIssue | null };

/**
 * What each fingerprint is firing since, and its newest issue.
 *
 * Behaviour: part of the caller's transaction. A repetition writes nothing, but for the first one of a day.
 */
export type Episodes = {
  observe(alert: Alert, now: number): EpisodeChange;
  setIssue(fingerprint: string, issue: NewestIssue): void;
  /** Forgets what was not accepted again since `beforeMs`; returns how many. */
  prune(beforeMs: number, limit: number): number;
};

/** Errors: those of SQLite. */
export function episodesOn(db: DatabaseSync): Episodes {
  const { find, begin, end, see, setIssue, prune } = prepare(db);
  return {
    observe({ fingerprint, firing, startsAt }, now) {
      const last = find.get(fingerprint) as Row | undefined;
      const dayEndsMs = (Math.floor(now / DAY_MS) + 1) * DAY_MS;
      if (!firing) {
        if (last === undefined || last.is_firing === 0) return { isRepeat: false, ended: null };
        end.run(dayEndsMs, fingerprint);
        return { isRepeat: false, ended: issueOf(last) };
      }
      if (last?.is_firing === 1 && last.starts_at === startsAt) {
        if (last.seen_at_ms !== dayEndsMs) see.run(dayEndsMs, fingerprint);
        return { isRepeat: startsAt !== null, ended: null };
      }
      begin.run(fingerprint, startsAt, dayEndsMs);
      return { isRepeat: false, ended: null };
    },
    setIssue: (fingerprint, { row, claimedAtMs }) => void setIssue.run(row, claimedAtMs, fingerprint),
    prune: (beforeMs, limit) => Number(prune.run(beforeMs, limit).changes),
  };
}

const DAY_MS = 24 * 60 * 60_000;

type Row = {
  starts_at: string | null;
  is_firing: number;
  seen_at_ms: number;
  issue_row: number | null;
  claimed_at_ms: number | null;
};

function issueOf({ issue_row, claimed_at_ms }: Row): NewestIssue | null {
  return issue_row === null ? null : { row: issue_row, claimedAtMs: claimed_at_ms ?? 0 };
}

function prepare(
  db: DatabaseSync,
): Record<"find" | "begin" | "end" | "see" | "setIssue" | "prune", StatementSync> {
  return {
    find: db.prepare(
      "select starts_at, is_firing, seen_at_ms, issue_row, claimed_at_ms from episodes where fingerprint = ?",
    ),
    begin: db.prepare(`
      insert into episodes (fingerprint, starts_at, is_firing, seen_at_ms) values (?, ?, 1, ?)
      on conflict (fingerprint) do update
        set starts_at = excluded.starts_at, is_firing = 1, seen_at_ms = excluded.seen_at_ms`),
    end: db.prepare("update episodes set is_firing = 0, seen_at_ms = ? where fingerprint = ?"),
    see: db.prepare("update episodes set seen_at_ms = ? where fingerprint = ?"),
    setIssue: db.prepare("update episodes set issue_row = ?, claimed_at_ms = ? where fingerprint = ?"),
    prune: db.prepare(`
      delete from episodes where fingerprint in
        (select fingerprint from episodes where seen_at_ms <= ? limit ?)`),
  };
}
