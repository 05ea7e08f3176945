import type { Alert } from "../alert/alert.ts";
import type { SqlRow } from "./sql.ts";

/** What is delivered: a message for every alert, an issue for each new firing one, a comment on it for each end. */
export type OutboxKind = "message" | "issue" | "comment";

/** Every kind, in the order in which people see them. */
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
/** How many alerts one message may contain. */
export const DIGEST_LIMIT = 40;
/** How long after its beginning a send may still arrive: the gateway waits a minute for WhatsApp at most. */
export const SEND_OVER_MS = 65_000;

/** How much may be waiting: undelivered rows, and the bytes of their alerts; the last tenth is for critical alerts. */
export type OutboxLimits = { rows: number; bytes: number };
/** The limits of an outbox whose operator set none. */
export const OUTBOX_LIMITS: OutboxLimits = { rows: 100_000, bytes: 1_073_741_824 };

/** An alert that was accepted; `isRepeat`: it is firing since the same `startsAt` already, and was sent again. */
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
 */
export type AcceptOutcome =
  | { accepted: AcceptedAlert[] }
  | { refused: "outbox_full" }
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
 *        store's clock; `members` are the other rows whose alerts that text contains. `ambiguous` counts the attempts that
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
 *        that the text contains. `paceAheadMs` is for how long the lane's rate limit is used up now; null without a limit.
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
 *            `mayHaveArrived` keeps text and members for the next attempt, else both are made again. `unknown` is kept and
 *            never repeated automatically.
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

/** What is kept of a lane: the code for which its service takes nothing, and for how long its rate limit is used up. */
export type LaneState = { pausedBy: string | null; paceAheadMs: number };

/** What the page shows of an alert; `about` distinguishes it from its neighbours (see `aboutAlert`). */
export type ShownAlert = Pick<Alert, "name" | "status" | "firing" | "severity" | "squad" | "reason"> & {
  about: string;
};

/**
 * Which rows to take next.
 *
 * Shape: `except` are in flight already. `issueGraceMs` is how long an issue waits for the first attempt of its own
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
