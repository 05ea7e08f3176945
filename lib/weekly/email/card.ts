import type { Channel, ChannelName, Reached } from "../payload.ts";
import { CHANNEL_LABELS } from "../texts/channel-label.ts";
import { metricName, metricValue, NO_FIGURE_TEXT } from "../texts/metric-text.ts";
import { partialText, reasonText } from "../texts/reason-text.ts";

/** Further figures are only counted; the full report has them. */
const MAX_FIGURES = 14;

/** One figure of a card; `known` is false where there is no data. */
export type FigureView = { label: string; value: string; known: boolean };

/** A channel's card: its figures, or why there are none. */
export type CardView = {
  name: string;
  coverage: Channel["coverageStatus"];
  coverageLabel: string;
  note: string | null;
  figures: FigureView[];
  more: number;
};

const COVERAGE_LABELS: Record<Channel["coverageStatus"], string> = {
  complete: "Dados completos",
  partial: "Dados parciais",
  unavailable: "Sem dados",
};

/** What a channel's card in the e-mail shows. */
export function cardView(name: ChannelName, channel: Channel): CardView {
  const figures = figuresOf(name, channel.metrics ?? {});
  return {
    name: CHANNEL_LABELS[name],
    coverage: channel.coverageStatus,
    coverageLabel: COVERAGE_LABELS[channel.coverageStatus],
    note: noteOf(name, channel, figures.length),
    figures: figures.slice(0, MAX_FIGURES),
    more: Math.max(0, figures.length - MAX_FIGURES),
  };
}

function noteOf(name: ChannelName, channel: Channel, figures: number): string | null {
  const { coverageStatus, reason } = channel;
  if (coverageStatus === "unavailable") return `Sem dados desta semana. ${reasonText(name, reason ?? "")}`;
  if (coverageStatus === "partial") return partialText(name, channel);
  return figures === 0 ? "A análise desta semana não trouxe números." : null;
}

/** Known figures first, in their own order; then the others by name. Never in the order of the payload's keys. */
function figuresOf(name: ChannelName, metrics: NonNullable<Channel["metrics"]>): FigureView[] {
  return Object.entries(shownMetrics(metrics))
    .map(([key, value]) => ({ key, value: metricValue(key, value), ...metricName(name, key) }))
    .toSorted((a, b) => a.rank - b.rank || compareCodeUnits(a.key, b.key))
    .map(({ label, value }) => ({ label, value, known: value !== NO_FIGURE_TEXT }));
}

/**
 * The figures that a card shows, by name.
 *
 * Behaviour: what the sends have reached stands in the place of the counts by last state of the same words, which a later
 *            event lowers. Reports made before that was known keep the counts by last state.
 */
function shownMetrics(metrics: NonNullable<Channel["metrics"]>): Record<string, number | null> {
  const { reached } = metrics;
  const figures = Object.entries(metrics).filter(isFigure);
  if (typeof reached !== "object" || reached === null) return Object.fromEntries(figures);
  const { delivered, opened, clicked } = reached;
  const others = Object.fromEntries(figures.filter(([name]) => !Object.hasOwn(reached, name)));
  return { ...others, reachedDelivered: delivered, reachedOpened: opened, reachedClicked: clicked };
}

function isFigure(entry: [string, number | null | Reached]): entry is [string, number | null] {
  return entry[1] === null || typeof entry[1] === "number";
}

function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
