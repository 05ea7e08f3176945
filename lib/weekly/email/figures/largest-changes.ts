import { CHANNELS, type ChannelName } from "../../payload.ts";
import { CHANNEL_LABELS } from "../../texts/channel-label.ts";
import { isRate, metricValue } from "../../texts/metric-text.ts";
import type { FigureView } from "./figures.ts";

/** Below these a figure moves by chance: it is never the change of the week. */
const MIN_COUNT = 20;
const MIN_SIZE = 0.05;

const TITLES = { good: "O que mais melhorou", bad: "O que mais piorou" };

/** The largest change of one tone: what it is, and the sentence. */
export type Highlight = { tone: "good" | "bad"; title: string; text: string };

type Candidate = { channel: ChannelName; figure: FigureView; size: number };

/**
 * The largest change for the better and the largest for the worse, over all channels, as sentences that say from where
 * to where: the cards say by how much.
 *
 * Units:     a change's size is its share of the larger figure, so that reach and rates can be compared; a rate below
 *            10% is measured beside 10%, and must move by one percentage point.
 * Behaviour: only figures of which it is known what more of them means; of e-mails only rates, since counts follow the
 *            number of sends. The larger of both comes first; of equal ones the first in the e-mail's order.
 */
export function largestChanges(figures: Readonly<Record<ChannelName, readonly FigureView[]>>): Highlight[] {
  const candidates = CHANNELS.flatMap((channel) => candidatesOf(channel, figures[channel]));
  return (["good", "bad"] as const)
    .flatMap((tone) => largest(candidates.filter(({ figure }) => figure.change?.tone === tone)))
    .toSorted((a, b) => b.size - a.size)
    .map(highlightOf);
}

function candidatesOf(channel: ChannelName, figures: readonly FigureView[]): Candidate[] {
  const telling = figures.filter(
    (figure) => isTelling(figure) && (channel !== "email" || isRate(figure.key)),
  );
  return telling.map((figure) => ({ channel, figure, size: figure.change!.size }));
}

function isTelling({ key, now, before, change }: FigureView): boolean {
  if (change === null || now === null || before === null || change.size < MIN_SIZE) return false;
  return isRate(key) || Math.max(Math.abs(now), Math.abs(before)) >= MIN_COUNT;
}

function largest(candidates: Candidate[]): Candidate[] {
  return candidates.toSorted((a, b) => b.size - a.size).slice(0, 1);
}

function highlightOf({ channel, figure: { key, label, value, before, change } }: Candidate): Highlight {
  const tone = change!.tone === "good" ? "good" : "bad";
  const where = channel === "email" ? "dos e-mails" : `no ${CHANNEL_LABELS[channel]}`;
  const text = `${label} ${where}: de ${metricValue(key, before)} para ${value}`;
  return { tone, title: TITLES[tone], text };
}
