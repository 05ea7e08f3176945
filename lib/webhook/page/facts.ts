import type { LatestOutcome } from "../metrics/metrics.ts";
import type { OutboxKind, State } from "../store/types.ts";
import type { WatchView } from "../watch/watch.ts";

const SHOWN_ALERTS = 200;
/** Seven days, and the hours of the eighth that make them whole. */
const SHOWN_HOURS = 8 * 24;
const SHOWN_DEAD = 50;
/** Their list is read whole: more of them would delay the alerts. */
const MOST_DEAD_READ = 5_000;

/** The part of the state that the page reads. */
export type PageState = Pick<
  State,
  "stats" | "check" | "lanes" | "recent" | "hourly" | "listDead" | "quarantined"
>;

/**
 * What the page reads of the state.
 *
 * Shape: `dead` are the newest rows that are dead or unknown, null when there are too many to read them; `canAccept`
 *        whether an alert could be accepted now; `hours` as in `State.hourly`.
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
  isStopping: boolean;
  isLeader: boolean;
  pauses: Readonly<Record<OutboxKind, string | null>>;
  watch: WatchView;
  latest: Readonly<Record<OutboxKind, LatestOutcome>>;
  secretRefusedAtMs: number | null;
  state: StateFacts | null;
};

/** Reads what the page shows; errors as those of the state, but for `check`. */
export async function readStateFacts(state: PageState) {
  const accepting = state.check().then(
    () => true,
    () => false,
  );
  const reads = [
    state.stats(),
    accepting,
    state.lanes(),
    state.recent(SHOWN_ALERTS),
    state.hourly(SHOWN_HOURS),
  ] as const;
  const [stats, canAccept, lanes, recent, hours] = await Promise.all(reads);
  const { message, issue, comment } = stats;
  const count = [message, issue, comment].reduce((sum, { dead, unknown }) => sum + dead + unknown, 0);
  const rows = count === 0 ? [] : count > MOST_DEAD_READ ? null : await state.listDead();
  const dead = rows?.toSorted((a, b) => (a.diedAt < b.diedAt ? 1 : -1)).slice(0, SHOWN_DEAD) ?? null;
  return { stats, canAccept, lanes, recent, hours, dead, isQuarantined: state.quarantined !== null };
}
