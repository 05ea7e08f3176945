import { joinNames } from "../../text/pt-br.ts";
import type { Channel, ChannelName } from "../payload.ts";
import { CHANNEL_LABELS } from "../texts/channel-label.ts";
import { partialText, reasonText } from "../texts/reason-text.ts";
import type { FigureView } from "./figures/figures.ts";
import { mainFigures } from "./figures/main-figures.ts";
import { foldZeros } from "./figures/zeros.ts";
import { NO_FIGURES_TEXT, NO_PREVIOUS_TEXT, NOT_INTEGRATED_TEXT, PARTIAL_PREVIOUS_TEXT } from "./wording.ts";

/** Names beyond these are only counted. */
const MAX_ABSENT_FIGURES = 8;

/**
 * A channel's card: its figures, or why there are none.
 *
 * Shape: `main` are shown large, `small` below them; `zeros` and `absent` are lines of their own. `isLine` marks a card
 *        that is its name and its note.
 */
export type CardView = {
  name: string;
  isLine: boolean;
  coverage: Channel["coverageStatus"];
  coverageLabel: string | null;
  note: string | null;
  main: FigureView[];
  comparison: string | null;
  small: FigureView[];
  zeros: string | null;
  absent: string | null;
  more: number;
};

const COVERAGE_LABELS: Record<Channel["coverageStatus"], string | null> = {
  complete: null,
  partial: "Dados parciais",
  unavailable: "Sem dados",
};

/**
 * What a channel's card in the e-mail shows.
 *
 * Shape:     at most `maxSmall` figures below the large ones; further ones are only counted, the full report has them.
 * Behaviour: with `isFirst` no card says that it has nothing to compare with: one sentence says it for all. With
 *            `wasPartial` a network's card says that it is compared with less than a whole week.
 */
export function cardView(
  name: ChannelName,
  channel: Channel,
  figures: readonly FigureView[],
  { isFirst, wasPartial, maxSmall }: { isFirst: boolean; wasPartial: boolean; maxSmall: number },
): CardView {
  const main = mainFigures(name, figures);
  const rest = figures.filter((figure) => !main.includes(figure));
  const { line, others } = name === "email" ? foldZeros(rest) : { line: null, others: rest };
  const small = others.filter(({ value }) => value !== null);
  const absent = others.filter(({ value }) => value === null).map(({ label }) => label);
  return {
    name: CHANNEL_LABELS[name],
    isLine: channel.status === "unavailable" && channel.reason === "not_integrated",
    coverage: channel.coverageStatus,
    coverageLabel: COVERAGE_LABELS[channel.coverageStatus],
    note: noteOf(name, channel, figures.length),
    main,
    comparison: comparisonOf(channel, figures, { isFirst, wasPartial: wasPartial && name !== "email" }),
    small: small.slice(0, maxSmall),
    zeros: line,
    absent: absent.length === 0 ? null : `Sem dado: ${absentText(absent)}`,
    more: Math.max(0, small.length - maxSmall),
  };
}

function noteOf(name: ChannelName, channel: Channel, figureCount: number): string | null {
  const { coverageStatus, reason } = channel;
  if (coverageStatus === "unavailable")
    return reason === "not_integrated" ? NOT_INTEGRATED_TEXT : reasonText(name, reason ?? "");
  if (coverageStatus === "partial") return partialText(name, channel);
  return figureCount === 0 ? NO_FIGURES_TEXT : null;
}

/** Null in reports without a field for the week before, and where the figures have comparisons of their own. */
function comparisonOf(
  { previous }: Channel,
  figures: readonly FigureView[],
  { isFirst, wasPartial }: { isFirst: boolean; wasPartial: boolean },
): string | null {
  if (previous === undefined || isFirst || figures.every(({ value }) => value === null)) return null;
  if (figures.every(({ change }) => change === null)) return NO_PREVIOUS_TEXT;
  return wasPartial ? PARTIAL_PREVIOUS_TEXT : null;
}

function absentText(labels: string[]): string {
  const rest = labels.length - MAX_ABSENT_FIGURES;
  return rest <= 0 ? joinNames(labels) : joinNames([...labels.slice(0, MAX_ABSENT_FIGURES), `mais ${rest}`]);
}
