import type { DueRow } from "../../state/contract.ts";
import type { AttemptResult } from "../attempts/attempt.ts";

/**
 * How something goes out that is no row of the outbox, at the pace and through the channel of the rows.
 *
 * Shape:     `mayStart` says whether an attempt may start now. `send` uses a turn of the pace at once, then makes the
 *            attempt for the row that it is given; null, and the turn given back, when it is given none.
 * Behaviour: while `giveWayTo`'s function returns true no row of the outbox starts.
 */
export type Aside = {
  readonly mayStart: boolean;
  send(rowOf: () => Promise<DueRow | null>, signal: AbortSignal): Promise<AttemptResult | null>;
  giveWayTo(isWaiting: () => boolean): void;
};
