import type { Alert } from "../alert/alert.ts";
import type { SqlRow } from "./sql.ts";

/** What is delivered: a message for every alert, an issue for each new firing one, a comment on it for each end. */
export type OutboxKind = "message" | "issue" | "comment";

/** Every kind, in the order in which people are told of them. */
export const OUTBOX_KINDS: readonly OutboxKind[] = ["message", "issue", "comment"];

const DAY_MS = 24 * 60 * 60_000;
/** How long no second issue is created for a fingerprint. */
export const ISSUE_TTL_MS = 30 * 60_000;
/** How long a row is tried before it is given up: time in which opsctl ran, could send and did try. */
export const GIVE_UP_MS = DAY_MS;
/** How long delivered rows are kept. */
export const KEEP_DELIVERED_MS = 30 * DAY_MS;
/** How long rows that are dead or unknown are kept. */
export const KEEP_ENDED_MS = 90 * DAY_MS;
/** How many alerts one message may tell. */
export const DIGEST_LIMIT = 40;
/** How long after its beginning a send may still arrive: the gateway waits a minute for WhatsApp at most. */
export const SEND_OVER_MS = 65_000;

/** How much may be waiting: undelivered rows, and the bytes of their alerts; the last tenth is for critical alerts. */
export type OutboxLimits = { rows: number; bytes: number };
/** The limits of an outbox whose operator set none. */
export const OUTBOX_LIMITS: OutboxLimits = { rows: 100_000, bytes: 1_073_741_824 };

/**
 * An alert that was accepted: the row of its message, and what the dedup said of its issue.
 *
 * Shape: `isRepeat` when the fingerprint is firing since the same `startsAt` already: the platform sends it again.
 */
export type AcceptedAlert = {
  alert: Alert;
  messageRow: number;
  isRepeat: boolean;
  issue:
    | { status: "not_firing" }
    | { status: "duplicate"; issueId: string; url: string | null }
    | { status: "first"; row: number; issueId: string };
};

/**
 * How one request ended; of a refused one nothing was kept, unless it `mayBeKept`: the commit's answer was lost.
 *
 * Shape: `row_refused` when the store takes others, but not the values of this one.
 */
export type AcceptOutcome =
  | { accepted: AcceptedAlert[] }
  | { refused: "outbox_full" | "row_refused" }
  | { refused: "state_unavailable"; mayBeKept?: true };

/** What went out by e-mail, or was given up, since a message said so. */
export type RecoveryNote = { emailed: number; undelivered: number };
/** The text of an attempt, and what it says of the time in which WhatsApp took nothing. */
export type AttemptText = { text: string; note: RecoveryNote };

/**
 * A row that may be tried now.
 *
 * Shape: `waitedMs` since the alert was accepted, or revived. `issueId` is the id of the issue to be created, or commented
 *        on; null for a message. `issueUrl` is the link of the issue that the fingerprint has, when known. `sent` is the
 *        text of an earlier attempt that may have arrived, with the instant at which the first one with it began, on the
 *        store's clock; `members` are the other rows whose alerts that text tells. `ambiguous` counts the attempts that
 *        may have arrived and are the gateway's own, one that was interrupted included.
 */
export type DueRow = {
  id: number;
  kind: OutboxKind;
  alert: Alert;
  attempts: number;
  waitedMs: number;
  triedMs: number;
  isRepeat: boolean;
  issueId: string | null;
  issueUrl: string | null;
  ambiguous: number;
  sent: (AttemptText & { firstBegunAtMs: number }) | null;
  members: readonly number[];
};

/**
 * What an attempt begins with.
 *
 * Shape: `content` is null for an issue or a comment, which the tracker knows by its id. `members` are the other rows
 *        that the text tells. `paceAheadMs` is for how long the lane's rate limit is used up now; null without a limit.
 */
export type AttemptStart = {
  content: AttemptText | null;
  members: readonly number[];
  paceAheadMs: number | null;
};

/**
 * How an attempt ended, for a row and the members of its text.
 *
 * Shape:     `retry`: `triedMs` is the whole time for which the row was tried, `ambiguous` the whole count (see `DueRow`);
 *            `mayHaveArrived` keeps text and members for the next attempt, else both are made anew. `unknown` is kept and
 *            never repeated by itself.
 * Behaviour: a delivered issue leaves its link with the claim, a dead one releases the claim and gives up its comments.
 */
export type AttemptEnd =
  | { status: "delivered"; reference: string | null; url: string | null }
  | {
      status: "retry";
      delayMs: number;
      code: string;
      triedMs: number;
      ambiguous: number;
      mayHaveArrived: boolean;
    }
  | { status: "dead"; code: string }
  | { status: "unknown"; code: string };

/** Where a row stands. */
export type RowState = "queued" | "delivered" | "dead" | "unknown";

/** The newest row of a fingerprint and kind, as it is recorded now. */
export type LatestRow = {
  status: RowState;
  attempts: number;
  code: string | null;
  reference: string | null;
  url: string | null;
};

/** A row that is dead or unknown, without its alert's text; `digest` is the row whose text tells it too. */
export type DeadRow = {
  id: number;
  kind: OutboxKind;
  status: "dead" | "unknown";
  digest: number | null;
  alertname: string | null;
  fingerprint: string;
  squad: string;
  attempts: number;
  code: string;
  acceptedAt: string;
  diedAt: string;
};

/** A row that waits, without its alert's text; `nextAttemptAt` is null for one that was never tried. */
export type QueuedRow = Omit<DeadRow, "status" | "code" | "diedAt"> & {
  severity: string | null;
  code: string | null;
  nextAttemptAt: string | null;
};

/** How many rows of one kind wait, are dead, or are unknown. */
export type KindStats = { queued: number; dead: number; unknown: number; oldestQueuedAgeMs: number | null };

/** What waits; `oldestCriticalAgeMs` is of messages, `reserveBytes` as in `Store`. */
export type OutboxStats = Record<OutboxKind, KindStats> & {
  queuedBytes: number;
  oldestCriticalAgeMs: number | null;
  reserveBytes: number | null;
};

/** What is kept of a lane: the code for which its service takes nothing, and for how long its rate limit is used up. */
export type LaneState = { pausedBy: string | null; paceAheadMs: number };

/** An alert whose message waits or is unknown, for the fallback channel. */
export type Escalation = {
  row: number;
  alert: Alert;
  status: "queued" | "unknown";
  acceptedAtMs: number;
  issueUrl: string | null;
};

/** One of the latest alerts, and what became of it. */
export type RecentAlert = {
  row: number;
  acceptedAtMs: number;
  /** What is kept of an alert for people, also when it was delivered. */
  shown: ShownAlert;
  message: Pick<LatestRow, "status" | "code"> & { endedAtMs: number | null; isEmailed: boolean };
  issue: Pick<LatestRow, "status" | "code" | "url"> | null;
};

/** What the page shows of an alert; `about` tells it from its neighbours (see `aboutAlert`). */
export type ShownAlert = Pick<Alert, "name" | "status" | "firing" | "severity" | "squad" | "reason"> & {
  about: string;
};

/**
 * Which rows to take next.
 *
 * Shape: `except` are on their way already. `issueGraceMs` is how long an issue waits for the first attempt of its own
 *        message; 0 when messages cannot start now. `isProbe`: for a lane that is half open, the row that was tried least
 *        comes first, so that no row keeps the lane from the others.
 */
export type DueQuery = {
  limit: number;
  except: readonly number[];
  issueGraceMs: number;
  isProbe: boolean;
};

/** What a fingerprint is known for: whether it fires, and its newest issue with the claim on it. */
export type AlertRecord = {
  fingerprint: string;
  isFiring: boolean;
  startsAt: string | null;
  seenAtMs: number;
  issueId: string | null;
  issueUrl: string | null;
  claimUntilMs: number;
};

/**
 * What another store has to take over: rows and tables as they are there.
 *
 * Shape: `id` is that of the store, by which rows are taken over once. `alerts` have the claims of its own issues alone.
 */
export type Contents = {
  id?: string;
  alerts: readonly AlertRecord[];
  rows: readonly SqlRow[];
  meta?: Readonly<Record<string, string>>;
};

/**
 * The webhook's memory: the outbox and the dedup of issues, together so that one transaction covers both.
 *
 * Behaviour: every write is on disk when its promise resolves. `accept` commits the requests it is given together; each
 *            is kept whole or not at all. `due` returns rows that may be tried now: critical, high, warning, the rest,
 *            in order of arrival within one; of one fingerprint and kind only the oldest undelivered row, and no member
 *            of another row's text; it looks at the first 5,000 rows in that order. A comment is due once its issue does
 *            not wait any more. Times are those of the store's own clock. Of the alert of a delivered row only what
 *            `recent` shows is kept.
 * Errors:    `accept` refuses instead of throwing; the others throw what the store throws, and then nothing was
 *            changed.
 */
export type State = {
  accept(requests: readonly (readonly Alert[])[]): Promise<AcceptOutcome[]>;
  due(kind: OutboxKind, query: DueQuery): Promise<DueRow[]>;
  /**
   * Messages that one message may tell together: due, never critical, none of which may have arrived; at most
   * `DIGEST_LIMIT` fingerprints in the order of `due`, of each the oldest that wait. None unless more than `most` wait.
   */
  digestible(except: readonly number[], most: number): Promise<DueRow[]>;
  /**
   * Records that an attempt begins, before the external service is called. Returns false, with nothing changed, when the
   * row or a member does not wait any more, or was begun by another process since it was read.
   */
  begin(row: Pick<DueRow, "id" | "attempts">, start: AttemptStart): Promise<boolean>;
  /** Records how an attempt, or a look-up instead of one, ended; nothing for a row that does not wait any more. */
  finish(row: number, end: AttemptEnd): Promise<void>;
  /** Which of these ids of the gateway or tracker are those of rows of this kind. */
  heldReferences(kind: OutboxKind, references: readonly string[]): Promise<ReadonlySet<string>>;
  lanes(): Promise<Readonly<Record<OutboxKind, LaneState>>>;
  /** Records why a lane is paused; null: it is not. */
  pauseLane(kind: OutboxKind, code: string | null): Promise<void>;
  stats(): Promise<OutboxStats>;
  /** Rows that are dead or unknown, oldest first; with a limit those that ended last. */
  listDead(limit?: number): Promise<DeadRow[]>;
  /** Makes rows, dead or unknown, due again, with all others that their texts tell; null: all. Returns how many. */
  retryDead(rows: readonly number[] | null): Promise<number>;
  /** Removes rows that are dead or unknown; null means all of them. Returns how many. */
  dropDead(rows: readonly number[] | null): Promise<number>;
  /** Rows that wait, in the order in which they would go out; at most `limit`. */
  listQueued(limit: number): Promise<QueuedRow[]>;
  /** Removes rows that wait; null means all of them. A dropped issue releases its claim. Returns how many. */
  dropQueued(rows: readonly number[] | null): Promise<number>;
  /** The newest rows of a fingerprint, one per kind. */
  latest(fingerprint: string): Promise<Partial<Record<OutboxKind, LatestRow>>>;
  /** Ids of the gateway of messages that were delivered so long ago; newest first, at most 500. */
  deliveredBetween(newerThanMs: number, olderThanMs: number): Promise<string[]>;
  /** Critical messages, and those about the alarm itself, that wait for so long, and all unknown; not yet e-mailed. */
  escalations(waitedMs: number): Promise<Escalation[]>;
  /** The fallback e-mail that is on its way, as it was kept; null when none is. */
  pendingEmail(): Promise<string | null>;
  /** Keeps a fallback e-mail before it is sent, in place of another; null: none is on its way any more. */
  keepEmail(email: string | null): Promise<void>;
  /** Records that the alerts of these rows were e-mailed, and that no e-mail is on its way any more. */
  recordEmailed(rows: readonly number[]): Promise<void>;
  /** What the next message has to say; the message that says it takes it away once it is delivered. */
  recoveryNote(): Promise<RecoveryNote>;
  /** The latest alerts, newest first. */
  recent(limit: number): Promise<RecentAlert[]>;
  /** How many alerts were accepted in each of the last hours, the running one last; an hour without any is 0. */
  hourly(hours: number): Promise<number[]>;
  /** What is known of these fingerprints. */
  alertRecords(fingerprints: readonly string[]): Promise<AlertRecord[]>;
  /** Everything that another store has to take over. */
  contents(): Promise<Contents>;
  /**
   * Takes over what another store has: its rows, with ids of this one, and its claims, unless one is in force here.
   * Returns how many rows that wait it took.
   */
  adopt(contents: Contents): Promise<number>;
  /** Removes delivered rows older than `KEEP_DELIVERED_MS`, ended ones older than `KEEP_ENDED_MS`, expired claims. */
  prune(): Promise<void>;
  /** Whether this process delivers; it takes that role when no process has it. Throws when that is not known. */
  lead(): Promise<boolean>;
  /** Throws when nothing could be accepted now: needs the disk as an alert does, and changes nothing. */
  check(): Promise<void>;
  /** Where a file that could not be read was moved to, or null. */
  readonly quarantined: string | null;
  close(): Promise<void>;
};
