import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import type {
  AcceptedAlert,
  AttemptEnd,
  AttemptStart,
  DueQuery,
  DueRow,
  OutboxKind,
  OutboxLimits,
  RecoveryNote,
} from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import type { Store } from "../../../lib/webhook/store/sql.ts";
import { resolvedAlert, sampleAlert } from "./sample-alert.ts";

/** A state on an empty store, with the clock at `START_MS`. */
export type StateFixture = {
  state: State;
  /** The store of `state`, for what no other program but a defective one does to it. */
  store: Store;
  setClock(ms: number): void | Promise<void>;
  /** Another state on the same store, as another process has it; the same one where no other can have it. */
  another(): Promise<State>;
  /** Closes what is open and returns a state on the same store; the same one where nothing outlives it. */
  reopen(): Promise<State>;
  close(): Promise<void>;
};

/** Opens a fixture: by default with the default limits and with comments. */
export type OpenStateFixture = (options?: StateOptions) => Promise<StateFixture>;

/** What a fixture's state is opened with. */
export type StateOptions = { limits?: OutboxLimits; comments?: boolean };

/** Where the clock of a new fixture stands: within a second, because boundaries are exact to the millisecond. */
export const START_MS = Date.UTC(2026, 10, 16, 14, 0, 0, 250);

/** Times of the state, in milliseconds. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

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

/**
 * Alerts by short names: `a` fires, `a2` since another instant, `a-` is resolved; `a!` is critical, `a^` high, `a.` info,
 * all others are warnings; `3*a` is three with fingerprints of their own.
 */
export function alertsOf(names: string): Alert[] {
  const severities: Record<string, string> = { "!": " CRITICAL", "^": "high", ".": "info" };
  return names.split(" ").flatMap((name) => {
    const [, count, key, since, mark = "", end] = /^(?:(\d+)\*)?([a-z]+)(\d*)([!^.]?)(-?)$/.exec(name) ?? [];
    const startsAt = since === "0" ? null : `2026-11-16T13:0${since || 1}:00Z`;
    const of = end === "-" ? resolvedAlert : sampleAlert;
    const severity = severities[mark] ?? "warning";
    return Array.from({ length: Number(count ?? 1) }, (_, at) =>
      of({ fingerprint: count === undefined ? key! : `${key}${at}`, startsAt, severity }),
    );
  });
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
  return state.due(kind, { limit: 100, except: [], issueGraceMs: 0, isProbe: false, ...query });
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

/** A note of nothing. */
export const NO_NOTE: RecoveryNote = { emailed: 0, undelivered: 0 };

/** The beginning of an attempt with a text, which also tells the alerts of `members`. */
export function start(text: string, members: readonly number[] = [], note = NO_NOTE): AttemptStart {
  return { content: { text, note }, members, paceAheadMs: null };
}

/** The beginning of an attempt of an issue or a comment. */
export const WITHOUT_TEXT: AttemptStart = { content: null, members: [], paceAheadMs: null };

/** Begins and ends an attempt of a row, the first one unless `attempts` were made. */
export async function tryOnce(state: State, row: number, end: AttemptEnd, how = start("text"), attempts = 0) {
  if (!(await state.begin({ id: row, attempts }, how))) throw new Error(`${row} was not begun`);
  await state.finish(row, end);
}

/** A delivery that left neither reference nor link. */
export const DELIVERED = { status: "delivered", reference: null, url: null } as const;

/** A delivery of a message that the gateway gave this id. */
export function deliveredAs(reference: string): AttemptEnd {
  return { status: "delivered", reference, url: null };
}

/** The link of the issue that `CREATED` made. */
export const ISSUE_URL = "https://tracker.example/issue/1";

/** The creation of an issue. */
export const CREATED = { status: "delivered", reference: "OPS-1", url: ISSUE_URL } as const;

/** The end of a row that nothing can deliver. */
export const DEAD = { status: "dead", code: "refused" } as const;

/** The end of a row that the external service may have taken. */
export const UNKNOWN = { status: "unknown", code: "send_unknown" } as const;

/** A failed attempt that cannot have arrived, unless `changes` says otherwise; `delayMs` until the next one. */
export function retryAfter(
  delayMs: number,
  changes: Partial<Extract<AttemptEnd, { status: "retry" }>> = {},
): AttemptEnd {
  return {
    ...{ status: "retry", delayMs, code: "timeout", triedMs: 0, ambiguous: 0, mayHaveArrived: false },
    ...changes,
  };
}

/** A failed attempt that may have arrived, and is the gateway's own. */
export const MAYBE = retryAfter(0, { ambiguous: 1, mayHaveArrived: true });

/** What may happen to a message that waits, by its name in a table of cases. */
export const MOVES = {
  waits: async () => {},
  "is on its way": (state, row) => state.begin({ id: row, attempts: 0 }, start("text")),
  failed: (state, row) => tryOnce(state, row, retryAfter(0)),
  "is tried again later": (state, row) => tryOnce(state, row, retryAfter(MINUTE_MS)),
  "may have arrived": (state, row) => tryOnce(state, row, MAYBE),
  "is in another text": async (state, row) => {
    const [main] = await acceptRows(state, "main");
    await state.begin({ id: main, attempts: 0 }, start("text", [row]));
  },
  "is delivered": (state, row) => state.finish(row, DELIVERED),
  "is dead": (state, row) => state.finish(row, DEAD),
  "is unknown": (state, row) => state.finish(row, UNKNOWN),
  "was dropped": (state, row) => state.dropQueued([row]),
} satisfies Record<string, (state: State, row: number) => Promise<unknown>>;

/** A name of `MOVES`. */
export type Move = keyof typeof MOVES;

/** All names of `MOVES`, and those after which a row does not wait any more. */
export const MOVED = Object.keys(MOVES) as Move[];
export const ENDED: readonly Move[] = ["is delivered", "is dead", "is unknown", "was dropped"];
