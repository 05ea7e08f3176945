import type { Alert } from "../alert/alert.ts";

/** What the outbox delivers: a WhatsApp message for every alert, an issue for each new firing one. */
export type OutboxKind = "message" | "issue";

/** How long no second issue is created for a fingerprint. */
export const ISSUE_TTL_MS = 30 * 60_000;

/** How long a row is tried before it is given up. */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** How long delivered rows are kept. */
export const KEEP_DELIVERED_MS = 30 * 24 * 60 * 60_000;

/** How much may be waiting: undelivered rows, and the bytes of their alerts. */
export type OutboxLimits = { rows: number; bytes: number };

/** The limits of an outbox whose operator set none. */
export const OUTBOX_LIMITS: OutboxLimits = { rows: 100_000, bytes: 1_073_741_824 };

/** An alert that is on disk: the row of its message, and what the dedup said of its issue. */
export type AcceptedAlert = {
  alert: Alert;
  messageRow: number;
  issue:
    | { status: "not_firing" }
    | { status: "duplicate"; claimedAtMs: number; url: string | null }
    | { status: "first"; row: number; claimedAtMs: number };
};

/** What became of one request; of a refused one nothing was kept. */
export type AcceptOutcome = { accepted: AcceptedAlert[] } | { refused: "outbox_full" | "state_unavailable" };

/**
 * A row that may be tried now.
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

/** A row that was delivered: the peer's id of it, and an issue's link. */
export type Delivered = { status: "delivered"; reference: string | null; url: string | null };

/**
 * What is recorded of a row after an attempt.
 *
 * Behaviour: a delivered issue confirms its dedup claim and leaves its link with it, a dead one releases the claim.
 */
export type Settlement =
  | Delivered
  | { status: "retry"; delayMs: number; code: string }
  | { status: "dead"; code: string };

/** The newest row of a fingerprint and kind, as it is recorded now. */
export type LatestRow = {
  status: "queued" | "delivered" | "dead";
  attempts: number;
  code: string | null;
  reference: string | null;
  url: string | null;
};

/** A row that was given up, without its alert's text. */
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

/** How many rows of one kind wait, and how many were given up. */
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
 * The webhook's memory: the outbox and the dedup of issues, together so that one transaction covers both.
 *
 * Behaviour: every write is on disk when its promise resolves. `accept` commits the requests it is given together; each
 *            is kept whole or not at all. `due` returns rows that may be tried now, critical ones first, then in order of
 *            arrival; of one fingerprint and kind only the oldest undelivered row. Times are those of the state's own
 *            clock. The alert of a delivered row is not kept.
 * Errors:    `accept` refuses instead of throwing; the others throw what the store throws, and then nothing was changed.
 */
export type State = {
  accept(requests: readonly (readonly Alert[])[]): Promise<AcceptOutcome[]>;
  due(kind: OutboxKind, query: DueQuery): Promise<DueRow[]>;
  settle(row: number, settlement: Settlement): Promise<void>;
  stats(): Promise<OutboxStats>;
  listDead(): Promise<DeadRow[]>;
  /** Makes dead rows due again; null means all of them. Returns how many. */
  retryDead(rows: readonly number[] | null): Promise<number>;
  /** Removes dead rows; null means all of them. Returns how many. */
  dropDead(rows: readonly number[] | null): Promise<number>;
  /** How many rows of a kind were delivered within the last `ms`. */
  deliveredWithin(kind: OutboxKind, ms: number): Promise<number>;
  /** The newest rows of a fingerprint, one per kind. */
  latest(fingerprint: string): Promise<Partial<Record<OutboxKind, LatestRow>>>;
  /** Removes delivered rows older than `KEEP_DELIVERED_MS`, and expired claims. */
  prune(): Promise<void>;
  /** Whether this process is the one that delivers; takes that role when no process has it. */
  lead(): Promise<boolean>;
  /** Throws when nothing could be accepted now: needs the disk as an alert does, and changes nothing. */
  check(): Promise<void>;
  /** Where a file that could not be read was moved to, or null. */
  movedAside: string | null;
  close(): Promise<void>;
};
