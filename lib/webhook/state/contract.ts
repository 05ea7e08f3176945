import type { Alert } from "../alert/alert.ts";

/**
 * What the outbox delivers: a WhatsApp message for every alert, an issue for each new firing one, and a comment on that
 * issue for each end of the alert.
 */
export type OutboxKind = "message" | "issue" | "comment";

/** Every kind, in the order in which people are told of them. */
export const OUTBOX_KINDS: readonly OutboxKind[] = ["message", "issue", "comment"];

/** How long no second issue is created for a fingerprint. */
export const ISSUE_TTL_MS = 30 * 60_000;

/** How long a row is tried before it is given up: time in which opsctl ran, could send and did try. */
export const GIVE_UP_MS = 24 * 60 * 60_000;

/** How long delivered rows are kept. */
export const KEEP_DELIVERED_MS = 30 * 24 * 60 * 60_000;

/** How long rows that were given up, or are in doubt, are kept. */
export const KEEP_ENDED_MS = 90 * 24 * 60 * 60_000;

/** How many alerts one message may tell. */
export const DIGEST_LIMIT = 40;

/** How much may be waiting: undelivered rows, and the bytes of their alerts; the last tenth is for critical alerts. */
export type OutboxLimits = { rows: number; bytes: number };

/** The limits of an outbox whose operator set none. */
export const OUTBOX_LIMITS: OutboxLimits = { rows: 100_000, bytes: 1_073_741_824 };

/**
 * An alert that is on disk: the row of its message, and what the dedup said of its issue.
 *
 * Shape: `isRepeat` when the fingerprint is firing since the same `startsAt` already: the platform tells it again.
 */
export type AcceptedAlert = {
  alert: Alert;
  messageRow: number;
  isRepeat: boolean;
  issue:
    | { status: "not_firing" }
    | { status: "duplicate"; claimedAtMs: number; url: string | null }
    | { status: "first"; row: number; claimedAtMs: number };
};

/** What became of one request; of a refused one nothing was kept, unless it `mayBeKept`: the store's word was lost. */
export type AcceptOutcome =
  | { accepted: AcceptedAlert[] }
  | { refused: "outbox_full" }
  | { refused: "state_unavailable"; mayBeKept?: boolean };

/** The issue that a fingerprint has: when it was claimed, and its link when it is known. */
export type IssueClaim = { claimedAtMs: number; url: string | null };

/**
 * A row that may be tried now; its id is negative where no state keeps it.
 *
 * Shape: `waitedMs` since the alert was accepted. `claimedAtMs` is set for an issue, and for a comment that of its
 *        issue; `issueUrl` is the link of the issue that the fingerprint has, when known. `text` is what the latest
 *        attempt sent, null before the first one. `isUnsettled`: an attempt began and its end was never recorded.
 *        `unclear` counts the attempts that ended without a clear answer, that one included; `firstBegunAtMs` is when
 *        the first one with this text began, on the state's clock. `unansweredForMs` is how long ago the latest attempt
 *        ended that was passed on and answered in the peer's place; null when none was. `members` are the other rows
 *        whose alerts it tells.
 */
export type DueRow = {
  id: number;
  kind: OutboxKind;
  alert: Alert;
  attempts: number;
  waitedMs: number;
  triedMs: number;
  isRepeat: boolean;
  claimedAtMs: number | null;
  issueUrl: string | null;
  text: string | null;
  isUnsettled: boolean;
  unclear: number;
  firstBegunAtMs: number | null;
  unansweredForMs: number | null;
  members: readonly number[];
};

/** What an attempt sends: a text, and at the first attempt the other rows whose alerts the row tells from then on. */
export type Begun = { text: string; members?: readonly number[] };

/**
 * What was tried for an alert before the state kept it: sends of one text that may have arrived.
 *
 * Shape: `unclear` and `unansweredForMs` as in `DueRow`; the first send began `begunForMs` ago, and it is looked for in
 *        `delayMs` at the earliest.
 */
export type TriedBefore = Pick<DueRow, "attempts" | "unclear" | "unansweredForMs"> & {
  text: string;
  begunForMs: number;
  delayMs: number;
};

/**
 * What was tried without the state of alerts that it begins to keep; undefined for nothing.
 *
 * Shape: `issue` is when the issue of a fingerprint was claimed, which the tracker may have; `message` may have arrived.
 */
export type Tries = {
  issue(fingerprint: string): number | undefined;
  message(alert: Alert): TriedBefore | undefined;
};

/** A row that was delivered: the peer's id of it, and an issue's link. */
export type Delivered = { status: "delivered"; reference: string | null; url: string | null };

/**
 * What is recorded of a row, and of the members of its text, after an attempt.
 *
 * Shape:     `triedMs` is the whole time for which the row was tried; `isUnclear` when the peer may have taken it, and
 *            `isUnanswered` when it may have, and something in front of it answered in its place: no doubt that counts.
 *            `in_doubt` is kept and never repeated by itself.
 * Behaviour: a delivered issue confirms its dedup claim and leaves its link with it, a dead one releases the claim and
 *            gives up its comments.
 */
export type Settlement =
  | Delivered
  | {
      status: "retry";
      delayMs: number;
      code: string;
      triedMs: number;
      isUnclear: boolean;
      isUnanswered?: boolean;
    }
  | { status: "dead"; code: string; isUnanswered?: boolean }
  | { status: "in_doubt"; code: string };

/** The newest row of a fingerprint and kind, as it is recorded now. */
export type LatestRow = {
  status: "queued" | "delivered" | "dead" | "in_doubt";
  attempts: number;
  code: string | null;
  reference: string | null;
  url: string | null;
};

/** A row that was given up, or is in doubt, without its alert's text; `digest` is the row whose text tells it too. */
export type DeadRow = {
  id: number;
  kind: OutboxKind;
  status: "dead" | "in_doubt";
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

/** How many rows of one kind wait, were given up, or are in doubt. */
export type KindStats = { queued: number; dead: number; inDoubt: number; oldestQueuedAgeMs: number | null };

/** Why a channel holds: the code of the peer's refusal, and since when, on the state's clock. */
export type Hold = { code: string; sinceMs: number };

/**
 * An alert whose message waits, is in doubt, or was delivered and not acknowledged, for the second channel.
 *
 * Shape: of one that was delivered, `alert` has only what `ShownAlert` keeps.
 */
export type UnheardAlert = {
  row: number;
  alert: Alert;
  status: "queued" | "in_doubt" | "unacknowledged";
  acceptedAtMs: number;
  issueUrl: string | null;
};

/** What went the other way, or was given up, since a message said so. */
export type Detour = { emailed: number; givenUp: number };

/** One of the latest alerts, and what became of it. */
export type RecentAlert = {
  row: number;
  acceptedAtMs: number;
  /** What is kept of an alert for people, also when it was delivered. */
  shown: ShownAlert;
  message: { status: LatestRow["status"]; code: string | null; endedAtMs: number | null; isEmailed: boolean };
  issue: { status: LatestRow["status"]; code: string | null; url: string | null } | null;
};

/** What the page shows of an alert; `about` tells it from its neighbours (see `aboutAlert`). */
export type ShownAlert = Pick<Alert, "name" | "status" | "firing" | "severity" | "squad" | "reason"> & {
  about: string;
};

/**
 * What waits and what was given up.
 *
 * Shape: `oldestCriticalAgeMs` is of messages. `reserveBytes` is what the state keeps for a full disk; null where it is
 *        not on this host's disk.
 */
export type OutboxStats = Record<OutboxKind, KindStats> & {
  queuedBytes: number;
  oldestCriticalAgeMs: number | null;
  reserveBytes: number | null;
};

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
 *            is kept whole or not at all. `due` returns rows that may be tried now: critical, high, warning, the rest,
 *            in order of arrival within one, but of rows that were tried and may be again some 256 at a time, those
 *            that have been due for longest; of one fingerprint and kind only the oldest undelivered row, and no member
 *            of another row's text. A comment is due once its issue is delivered. Times are those of the state's own
 *            clock. The alert of a delivered row is not kept, only what `recent` shows.
 * Errors:    `accept` refuses instead of throwing; the others throw what the store throws, and then nothing was
 *            changed.
 */
export type State = {
  accept(requests: readonly (readonly Alert[])[], tries?: Tries): Promise<AcceptOutcome[]>;
  due(kind: OutboxKind, query: DueQuery): Promise<DueRow[]>;
  /**
   * Messages that one message may tell together: never tried, never critical, in the order of `due`, at most
   * `DIGEST_LIMIT` fingerprints; all that wait of a fingerprint are together or left out together.
   */
  digestible(except: readonly number[]): Promise<DueRow[]>;
  /** The other rows whose alerts a row tells, oldest first. */
  membersOf(row: number): Promise<DueRow[]>;
  /** How many messages wait that are not critical and are in no other row's text; counted up to `most`. */
  waitingMessages(most: number): Promise<number>;
  /**
   * Records that an attempt begins, before the peer is called. `begun` at the first attempt, and at a later one with a
   * text made anew, which the row takes while no copy of it is in doubt (`unclear` 0), and which no attempt has left
   * unanswered yet; null keeps its text. Returns false, with nothing changed, when the row or a member does not wait
   * any more or was begun by another.
   */
  begin(row: number, begun: Begun | null): Promise<boolean>;
  /** Records what was tried for a row before it was kept; a row that was begun since is left as it is. */
  takeUp(row: number, tried: TriedBefore): Promise<void>;
  settle(row: number, settlement: Settlement): Promise<void>;
  /** Which of these ids of the peer are those of rows of this kind. */
  heldReferences(kind: OutboxKind, references: readonly string[]): Promise<ReadonlySet<string>>;
  stats(): Promise<OutboxStats>;
  /** Rows that were given up, and those in doubt. */
  listDead(): Promise<DeadRow[]>;
  /** Makes rows, dead or in doubt, due again, with all others that their texts tell; null: all. Returns how many. */
  retryDead(rows: readonly number[] | null): Promise<number>;
  /** Removes dead rows, and those in doubt; null means all of them. Returns how many. */
  dropDead(rows: readonly number[] | null): Promise<number>;
  /** Rows that wait, in the order in which they would go out; at most `limit`. */
  listQueued(limit: number): Promise<QueuedRow[]>;
  /** Removes rows that wait; null means all of them. A dropped issue releases its claim. Returns how many. */
  dropQueued(rows: readonly number[] | null): Promise<number>;
  /** How many attempts of a kind began within the last `ms`, at most an hour, by any process. */
  begunWithin(kind: OutboxKind, ms: number): Promise<number>;
  /** The newest rows of a fingerprint, one per kind. */
  latest(fingerprint: string): Promise<Partial<Record<OutboxKind, LatestRow>>>;
  /** The claim in force on the issue of a fingerprint; reads only. */
  issueClaim(fingerprint: string): Promise<IssueClaim | null>;
  /** Claims issues that were created without the state, from their creation on; one with a claim keeps that. */
  rememberIssues(issues: readonly (IssueClaim & { fingerprint: string })[]): Promise<void>;
  /** Ids of the peer of messages that were delivered so long ago; newest first, at most 500. */
  deliveredBetween(newerThanMs: number, olderThanMs: number): Promise<string[]>;
  holds(): Promise<Readonly<Record<OutboxKind, Hold | null>>>;
  /** Remembers why a channel holds; null: it does not. */
  hold(kind: OutboxKind, code: string | null): Promise<void>;
  /** Critical messages, and those about the alarm itself, that wait for so long, and all in doubt; not yet e-mailed. */
  unheard(waitedMs: number): Promise<UnheardAlert[]>;
  /** Critical messages, and those about the alarm itself, delivered with these ids of the peer; not yet e-mailed. */
  unacknowledged(references: readonly string[]): Promise<UnheardAlert[]>;
  recordEmailed(rows: readonly number[]): Promise<void>;
  /** The e-mail that is on its way, as it was kept; null when none is. */
  keptEmail(): Promise<string | null>;
  /** Keeps an e-mail before it is sent, in place of another; null: none is on its way any more. */
  keepEmail(email: string | null): Promise<void>;
  detour(): Promise<Detour>;
  /** Forgets so much of the detour: a message has told it. */
  recordDetourTold(told: Detour): Promise<void>;
  /** The latest alerts, newest first. */
  recent(limit: number): Promise<RecentAlert[]>;
  /** How many alerts were accepted in each of the last hours, the running one last; an hour without any is 0. */
  hourly(hours: number): Promise<number[]>;
  /** Removes delivered rows older than `KEEP_DELIVERED_MS`, ended ones older than `KEEP_ENDED_MS`, expired claims. */
  prune(): Promise<void>;
  /** Whether this process delivers; it takes that role when no process has it. Throws when that is not known. */
  lead(): Promise<boolean>;
  /** Throws when nothing could be accepted now: needs the disk as an alert does, and changes nothing. */
  check(): Promise<void>;
  /** Where a file that could not be read was moved to, or null. */
  movedAside: string | null;
  close(): Promise<void>;
};
