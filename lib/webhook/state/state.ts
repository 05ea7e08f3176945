import type { Alert } from "../alert/alert.ts";

/** What the outbox delivers: a WhatsApp message of every alert, an issue of each new firing one. */
export type OutboxKind = "message" | "issue";

/** How long a firing alert's fingerprint keeps further issues away. */
export const ISSUE_TTL_MS = 30 * 60_000;

/** How long an undelivered row is tried before it is dead. */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** How long delivered rows are kept. */
export const KEEP_DELIVERED_MS = 30 * 24 * 60 * 60_000;

/** How much may be waiting: undelivered rows, and the bytes of their alerts. */
export type OutboxLimits = { rows: number; bytes: number };

/** The limits of an outbox whose operator set none. */
export const OUTBOX_LIMITS: OutboxLimits = { rows: 100_000, bytes: 1_073_741_824 };

/** An alert that is on disk: the row of its message, and what the dedup says of its issue. */
export type AcceptedAlert = {
  alert: Alert;
  messageRow: number;
  issue:
    | { status: "not_firing" }
    | { status: "duplicate"; claimedAtMs: number; url: string | null }
    | { status: "first"; row: number; claimedAtMs: number };
};

/** What became of one request; a refused one has left nothing behind. */
export type AcceptOutcome = { accepted: AcceptedAlert[] } | { refused: "outbox_full" | "state_unavailable" };

/**
 * A row whose turn it is.
 *
 * Shape: `claimedAtMs` is set for an issue; `issueUrl` is the link of the issue that the fingerprint has, when known.
 */
export type DueRow = {
  id: number;
  kind: OutboxKind;
  alert: Alert;
  attempts: number;
  ageMs: number;
  claimedAtMs: number | null;
  issueUrl: string | null;
};

/** How an attempt ended; an issue that is dead gives its dedup claim back, a delivered one confirms it with its link. */
export type Settlement =
  | { status: "delivered"; reference: string | null; url: string | null }
  | { status: "retry"; delayMs: number; code: string }
  | { status: "dead"; code: string };

/** A row that was given up; without its alert's text. */
export type DeadRow = {
  id: number;
  kind: OutboxKind;
  alertname: string | null;
  fingerprint: string;
  squad: string;
  attempts: number;
  code: string;
  acceptedAt: string;
  diedAt: string;
};

/** How much of one kind there is. */
export type KindStats = { queued: number; dead: number; oldestQueuedAgeMs: number | null };

/** What waits and what was given up. */
export type OutboxStats = Record<OutboxKind, KindStats> & { queuedBytes: number };

/** Which rows to take next. */
export type DueQuery = {
  limit: number;
  /** Rows that are on their way already. */
  except: readonly number[];
  /** For issues: how long one waits for the first attempt of its own message; 0 when messages cannot start now. */
  issueGraceMs: number;
};

/**
 * The webhook's memory: the outbox and the dedup of issues, in one place so that one transaction covers both.
 *
 * Shape:  every write is on disk when its promise resolves. `accept` takes the requests that wait together and commits
 *         them together; each is all or nothing. `due` answers rows that may be tried now, critical first, then in order
 *         of arrival; of one fingerprint and kind only the oldest undelivered row. Times are those of the state's own
 *         clock. A settled alert's text is not kept.
 * Errors: `accept` refuses instead of throwing; the others throw what the store throws, and then nothing was changed.
 */
export type State = {
  accept(requests: readonly (readonly Alert[])[]): Promise<AcceptOutcome[]>;
  due(kind: OutboxKind, query: DueQuery): Promise<DueRow[]>;
  settle(row: number, settlement: Settlement): Promise<void>;
  stats(): Promise<OutboxStats>;
  listDead(): Promise<DeadRow[]>;
  /** Makes dead rows due again, or removes them; null means all. Answers how many there were. */
  retryDead(rows: readonly number[] | null): Promise<number>;
  dropDead(rows: readonly number[] | null): Promise<number>;
  /** How many rows of a kind were delivered within the last `ms`. */
  deliveredWithin(kind: OutboxKind, ms: number): Promise<number>;
  /** What became of the newest rows of a fingerprint, one per kind. */
  latest(fingerprint: string): Promise<Partial<Record<OutboxKind, LatestRow>>>;
  /** Removes delivered rows and claims that have had their time. */
  prune(): Promise<void>;
  /** Whether this process is the one that delivers; asks for the role when nobody has it, and keeps it when it has. */
  lead(): Promise<boolean>;
  /** Writes and removes nothing, but needs the disk: throws when nothing could be accepted now. */
  check(): Promise<void>;
  /** Where a file that could not be read was moved at the start, or null. */
  movedAside: string | null;
  close(): Promise<void>;
};

/** The state of one row, for whoever asks about it. */
export type LatestRow = {
  state: "queued" | "delivered" | "dead";
  attempts: number;
  code: string | null;
  reference: string | null;
  url: string | null;
};
