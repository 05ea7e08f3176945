import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import type {
  AcceptedAlert,
  DueQuery,
  DueRow,
  OutboxKind,
  OutboxLimits,
  Settlement,
  State,
} from "../../../lib/webhook/state/contract.ts";
import { resolvedAlert } from "./sample-alert.ts";

/** A state on an empty store of its own, with the clock at `START_MS`. */
export type StateFixture = {
  state: State;
  setClock(ms: number): void | Promise<void>;
  /** One more state on the same store, as another process has it. */
  another(): Promise<State>;
  /** Closes what is open and returns a state on the same store. */
  reopen(): Promise<State>;
  /** Writes something in the place of a row's alert, behind the back of the state. */
  spoil(row: number, text: string): void | Promise<void>;
  /** Lets the store refuse every row of a fingerprint, as it does one that it cannot hold. */
  refuse(fingerprint: string): void | Promise<void>;
  close(): Promise<void>;
};

/** Opens a fixture; without `limits`, with the default ones, and without `comments`, with none. */
export type OpenStateFixture = (options?: {
  limits?: OutboxLimits;
  comments?: boolean;
}) => Promise<StateFixture>;

/** Where the clock of a new fixture stands: within a second, because boundaries are exact to the millisecond. */
export const START_MS = Date.UTC(2026, 10, 16, 14, 0, 0, 250);

/** Times of the state, in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** Accepts one request that nothing may refuse. */
export async function acceptAll(state: State, ...alerts: Alert[]): Promise<AcceptedAlert[]> {
  const [outcome] = await state.accept([alerts]);
  if (outcome === undefined || "refused" in outcome) throw new Error(`refused: ${outcome?.refused}`);
  return outcome.accepted;
}

/** Accepts one alert that nothing may refuse. */
export async function acceptOne(state: State, alert: Alert): Promise<AcceptedAlert> {
  const [accepted] = await acceptAll(state, alert);
  return accepted!;
}

/** Accepts a resolved alert for each fingerprint, in one request; returns the rows of their messages. */
export async function acceptRows<const Fingerprints extends readonly string[]>(
  state: State,
  ...fingerprints: Fingerprints
): Promise<{ [At in keyof Fingerprints]: number }> {
  const alerts = fingerprints.map((fingerprint) => resolvedAlert({ fingerprint }));
  const rows = (await acceptAll(state, ...alerts)).map(({ messageRow }) => messageRow);
  return rows as { [At in keyof Fingerprints]: number };
}

/** The rows that may be tried now, in order. */
export function dueRows(state: State, kind: OutboxKind, query: Partial<DueQuery> = {}): Promise<DueRow[]> {
  return state.due(kind, { limit: 100, except: [], issueGraceMs: 0, ...query });
}

/** The ids of the rows that may be tried now, in order. */
export async function dueIds(state: State, kind: OutboxKind, query?: Partial<DueQuery>): Promise<number[]> {
  return (await dueRows(state, kind, query)).map(({ id }) => id);
}

/** The one row that may be tried now. */
export async function onlyDue(state: State, kind: OutboxKind = "message"): Promise<DueRow> {
  const [row, ...others] = await dueRows(state, kind);
  if (row === undefined || others.length > 0)
    throw new Error(`${others.length + (row ? 1 : 0)} rows are due`);
  return row;
}

/** The row of the issue that was claimed for an alert. */
export function issueRowOf({ issue }: AcceptedAlert): number {
  if (issue.status !== "first") throw new Error(`no issue was claimed: ${issue.status}`);
  return issue.row;
}

/** A delivery that left neither reference nor link. */
export const DELIVERED = { status: "delivered", reference: null, url: null } as const;

/** A delivery of a message that the gateway gave this id. */
export function deliveredAs(reference: string): Settlement {
  return { status: "delivered", reference, url: null };
}

/** The link of the issue that `CREATED` made. */
export const ISSUE_URL = "https://tracker.example/issue/1";

/** The creation of an issue. */
export const CREATED = { status: "delivered", reference: "OPS-1", url: ISSUE_URL } as const;

/** A row that nothing can deliver. */
export const DEAD = { status: "dead", code: "refused" } as const;

/** A row that the peer may have taken. */
export const UNKNOWN = { status: "in_doubt", code: "timeout" } as const;

/** A failed attempt, clear unless `end` says otherwise; `delayMs` until the next one. */
export function retryAfter(
  delayMs: number,
  changes: { code?: string; triedMs?: number; isUnclear?: boolean; isUnanswered?: boolean } = {},
): Settlement {
  return { status: "retry", delayMs, code: "timeout", triedMs: 0, isUnclear: false, ...changes };
}
