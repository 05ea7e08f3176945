import type { ChannelStops } from "../../delivery/attempts/attempt.ts";
import type { LatestOutcome } from "../../metrics/latest-outcomes.ts";
import type { DeadRow, Hold, OutboxKind, OutboxStats, RecentAlert, State } from "../../state/contract.ts";
import type { WatchView } from "../../watch/watch.ts";

/** How many of the latest alerts the page shows. */
export const SHOWN_ALERTS = 200;
/** Seven days, and the hours of the eighth that make them whole. */
const SHOWN_HOURS = 8 * 24;
/** How many rows that were given up the page shows. */
export const SHOWN_LOST = 50;
/** Their list is read whole: one that takes long to read would hold up the alerts. */
const MOST_LOST_READ = 5_000;

/** What the page asks of the state. */
export type PageState = Pick<
  State,
  "stats" | "check" | "holds" | "recent" | "hourly" | "listDead" | "movedAside"
>;

/** What this process knows without the state. */
export type ProcessFacts = {
  nowMs: number;
  isStopping: boolean;
  isLeading: boolean;
  stops: ChannelStops;
  watch: WatchView;
  latest: Readonly<Record<OutboxKind, LatestOutcome>>;
  /** When the last post from elsewhere was refused for its secret; null when none was, or one was accepted since. */
  secretRefusedAtMs: number | null;
};

/**
 * What the state says.
 *
 * Shape: `lost` are the newest rows that were given up or are in doubt, null when there are too many to read them.
 *        `hours` as in `State.hourly`.
 */
export type StateFacts = {
  stats: OutboxStats;
  canAccept: boolean;
  holds: Readonly<Record<OutboxKind, Hold | null>>;
  recent: RecentAlert[];
  hours: number[];
  lost: DeadRow[] | null;
  movedAside: string | null;
};

/** What the page shows; `state` is null while it does not answer. */
export type PageFacts = ProcessFacts & { state: StateFacts | null };

/**
 * Reads what the page shows.
 *
 * Errors: those of the state; that no alert could be accepted is a fact, no error.
 */
export async function readStateFacts(state: PageState): Promise<StateFacts> {
  const [stats, canAccept, holds, recent, hours] = await Promise.all([
    state.stats(),
    state.check().then(
      () => true,
      () => false,
    ),
    state.holds(),
    state.recent(SHOWN_ALERTS),
    state.hourly(SHOWN_HOURS),
  ]);
  const lost = await readLost(state, stats);
  return { stats, canAccept, holds, recent, hours, lost, movedAside: state.movedAside };
}

async function readLost(
  state: Pick<State, "listDead">,
  { message, issue, comment }: OutboxStats,
): Promise<DeadRow[] | null> {
  const count = [message, issue, comment].reduce((sum, { dead, inDoubt }) => sum + dead + inDoubt, 0);
  if (count === 0) return [];
  if (count > MOST_LOST_READ) return null;
  const rows = await state.listDead();
  return rows.toSorted((a, b) => (a.diedAt < b.diedAt ? 1 : -1)).slice(0, SHOWN_LOST);
}
