import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import type {
  AcceptedAlert,
  DueQuery,
  OutboxKind,
  OutboxLimits,
  Settlement,
  State,
} from "../../../lib/webhook/state/contract.ts";

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
  close(): Promise<void>;
};

/** Opens a fixture; without `limits`, with the default ones, and without `comments`, with none. */
export type OpenStateFixture = (options?: {
  limits?: OutboxLimits;
  comments?: boolean;
}) => Promise<StateFixture>;

/** Where the clock of a new fixture stands: within a second, because boundaries are exact to the millisecond. */
export const START_MS = Date.UTC(2026, 10, 16, 14, 0, 0, 250);

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** Accepts one request that nothing may refuse. */
export async function acceptAll(state: State, ...alerts: Alert[]): Promise<AcceptedAlert[]> {
  const [outcome] = await state.accept([alerts]);
  if (outcome === undefined || "refused" in outcome) throw new Error(`refused: ${outcome?.refused}`);
  return outcome.accepted;
}

/** The ids of the rows that may be tried now, in order. */
export async function dueIds(
  state: State,
  kind: OutboxKind,
  query: Partial<DueQuery> = {},
): Promise<number[]> {
  const rows = await state.due(kind, { limit: 100, except: [], issueGraceMs: 0, ...query });
  return rows.map(({ id }) => id);
}

/** The row of the issue that was claimed for an alert. */
export function issueRowOf({ issue }: AcceptedAlert): number {
  if (issue.status !== "first") throw new Error(`no issue was claimed: ${issue.status}`);
  return issue.row;
}

/** A delivery that left neither reference nor link. */
export const DELIVERED = { status: "delivered", reference: null, url: null } as const;

/** A failed attempt, clear unless told otherwise; `delayMs` until the next one. */
export function retryAfter(
  delayMs: number,
  changes: { code?: string; triedMs?: number; isUnclear?: boolean; isUnanswered?: boolean } = {},
): Settlement {
  return { status: "retry", delayMs, code: "timeout", triedMs: 0, isUnclear: false, ...changes };
}
