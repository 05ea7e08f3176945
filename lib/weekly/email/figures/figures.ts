import type { Channel, ChannelName, Reached } from "../../payload.ts";
import { isRate, metricKey, metricName, metricValue, NO_FIGURE_TEXT } from "../../texts/metric-text.ts";
import { type ChangeView, changeOf } from "./change.ts";
import { type Direction, directionOf, isHandful } from "./figure-meaning.ts";

/**
 * One figure of a channel.
 *
 * Shape: `value` and `now` are null where there is no data; `before` where the week before has none; `change` where
 *        `now` is null, and where the week before has no comparable figure at all.
 */
export type FigureView = {
  key: string;
  label: string;
  value: string | null;
  now: number | null;
  before: number | null;
  change: ChangeView | null;
};

type Metrics = NonNullable<Channel["metrics"]>;

/** Rates of e-mails: shares of what has an event, and of all sends in reports that do not know what was reached. */
const EMAIL_RATES = new Set(["delivery_rate", "open_rate", "click_rate", "bounce_rate"]);

/** Stored rates have four decimals: the share that one of them stands for is nearer than this. */
const RATE_STEP = 0.0001;

/**
 * The figures of a channel, each with its change since the week before.
 *
 * Shape:     known names first, in their own order; then the others by name. Never in the order of the payload's keys.
 *            With `wasPartial` the week before had not all of the channel's data.
 * Behaviour: a change is good or bad news only where both weeks carry it: not that of a network of which either week's
 *            data is partial, because half a week is not less of a week, and not that of a rate of a handful of e-mails,
 *            which swings by itself.
 */
export function figuresOf(name: ChannelName, channel: Channel, wasPartial = false): FigureView[] {
  const { metrics, previous } = channel;
  const figures = shownMetrics(metrics ?? {});
  const comparable = comparableOf(name, metrics ?? {}, previous ?? {});
  const before = Object.values(comparable).every((value) => value === null) ? null : comparable;
  return Object.entries(figures)
    .map(([key, value]) => ({ key, value, ...metricName(name, key) }))
    .toSorted((a, b) => a.rank - b.rank || compareCodeUnits(a.key, b.key))
    .map((figure) => figureOf(figure, before, directionIn(name, channel, wasPartial)));
}

/** What more of a figure means, by its name, where both weeks carry a judgement. */
function directionIn(name: ChannelName, { coverageStatus, metrics, previous }: Channel, wasPartial: boolean) {
  const isHalf = name !== "email" && (wasPartial || coverageStatus !== "complete");
  const isSwinging = name === "email" && [metrics, previous].some((week) => isHandful(week?.sends));
  return (key: string) => (isHalf || (isSwinging && isRate(key)) ? "neutral" : directionOf(name, key));
}

function figureOf(
  { key, label, value: now }: { key: string; label: string; value: number | null },
  previous: Record<string, number | null> | null,
  direction: (name: string) => Direction,
): FigureView {
  const before = previous !== null && Object.hasOwn(previous, key) ? previous[key]! : null;
  const name = metricKey(key);
  const text = metricValue(name, now);
  return {
    key: name,
    label,
    value: text === NO_FIGURE_TEXT ? null : text,
    now,
    before,
    change: previous !== null && now !== null ? changeOf(name, now, before, direction(name)) : null,
  };
}

/** The figures of the week before; without an e-mail's rates where only one week knows what was reached. */
function comparableOf(
  channel: ChannelName,
  metrics: Metrics,
  previous: Metrics,
): Record<string, number | null> {
  const figures = shownMetrics(previous);
  if (channel !== "email" || isReached(metrics.reached) === isReached(previous.reached)) return figures;
  return Object.fromEntries(Object.entries(figures).filter(([key]) => !EMAIL_RATES.has(metricKey(key))));
}

/**
 * The figures that a card shows, by name.
 *
 * Behaviour: what the sends have reached stands in the place of the counts by last state of the same words, which a
 *            later event lowers. Reports made before that was known keep the counts by last state.
 */
function shownMetrics(metrics: Metrics): Record<string, number | null> {
  const { reached } = metrics;
  const figures = Object.entries(metrics).filter(isFigure);
  if (!isReached(reached)) return Object.fromEntries(figures);
  const { delivered, opened, clicked } = reached;
  const others = Object.fromEntries(figures.filter(([name]) => !Object.hasOwn(reached, name)));
  const rates = exactRates(others, reached);
  return { ...others, ...rates, reachedDelivered: delivered, reachedOpened: opened, reachedClicked: clicked };
}

/**
 * The stored rates of e-mails as the shares that they were rounded from: rounded again, 16 of 84 would be 19.1%, and
 * one bounce of a million none.
 */
function exactRates(figures: Record<string, number | null>, reached: Reached): Record<string, number> {
  const { sends = null, noEvent = null, bounced = null } = figures;
  const { delivered, opened, clicked } = reached;
  const parts = { deliveryRate: delivered, openRate: opened, clickRate: clicked, bounceRate: bounced };
  const shares = Object.entries(parts).flatMap(([name, part]) => {
    const stored = figures[name] ?? null;
    if (stored === null || part === null || sends === null || noEvent === null) return [];
    const share = part / (sends - noEvent);
    return Math.abs(share - stored) < RATE_STEP ? [[name, share] as const] : [];
  });
  return Object.fromEntries(shares);
}

function isReached(value: Metrics[string] | undefined): value is Reached {
  return typeof value === "object" && value !== null;
}

function isFigure(entry: [string, number | null | Reached]): entry is [string, number | null] {
  return entry[1] === null || typeof entry[1] === "number";
}

function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
