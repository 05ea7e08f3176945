import type { LatestOutcome } from "../metrics/metrics.ts";
import type { OutboxKind } from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import type { WatchView } from "../watch/watch.ts";

const SHOWN_ALERTS = 200;
const SHOWN_HOURS = 7 * 24;
const SHOWN_DEAD = 50;

/** The part of the state that the page reads. */
export type PageState = Pick<State, "stats" | "check" | "recent" | "hourly" | "listDead" | "quarantined">;

/**
 * What the page reads of the state.
 *
 * Shape: `dead` are the newest rows that are dead or unknown; `canAccept` whether an alert could be accepted now; `hours`
 *        as in `State.hourly`.
 */
export type StateFacts = Awaited<ReturnType<typeof readStateFacts>>;

/**
 * What the page shows.
 *
 * Shape: `state` is null while the state does not answer. `secretRefusedAtMs` is when the last request from another host
 *        was refused for its secret; null when none was, or one was accepted since.
 */
export type PageFacts = {
  nowMs: number;
  isLeader: boolean;
  pauses: Readonly<Record<OutboxKind, string | null>>;
  watch: WatchView;
  latest: Readonly<Record<OutboxKind, LatestOutcome>>;
  secretRefusedAtMs: number | null;
  state: StateFacts | null;
};

/** Reads what the page shows; errors as those of the state, but for `check`. */
export async function readStateFacts(state: PageState) {
  const [stats, [check], recent, hours, ended] = await Promise.all([
    state.stats(),
    Promise.allSettled([state.check()]),
    state.recent(SHOWN_ALERTS),
    state.hourly(SHOWN_HOURS),
    state.listDead(SHOWN_DEAD),
  ]);
  const dead = ended.toSorted((a, b) => (a.diedAt < b.diedAt ? 1 : -1));
  const canAccept = check.status === "fulfilled";
  return { stats, canAccept, recent, hours, dead, isQuarantined: state.quarantined !== null };
}
