import { NO_TROUBLE_TEXT, SOME_ZEROS_TEXT } from "../wording.ts";
import { TROUBLES } from "./figure-meaning.ts";
import type { FigureView } from "./figures.ts";

/** Measured zeros of trouble as one line, and the figures that are not in it. */
export type FoldedZeros = { line: string | null; others: FigureView[] };

/**
 * Folds trouble with e-mails that was measured and did not occur into one line.
 *
 * Behaviour: a figure without data is no zero and stays, and so does one that was not zero the week before: its change
 *            is news. "None" is said only where all kinds of trouble that the report counts were measured.
 */
export function foldZeros(figures: readonly FigureView[]): FoldedZeros {
  const troubles = Object.keys(TROUBLES).flatMap((name) => figures.filter(({ key }) => key === name));
  const zeros = troubles.filter(isOldZero);
  if (zeros.length === 0) return { line: null, others: [...figures] };
  const isBounceZero = zeros.some(({ key }) => key === "bounced");
  const isTold = (figure: FigureView) =>
    zeros.includes(figure) || (isBounceZero && figure.key === "bounce_rate" && isOldZero(figure));
  const head = zeros.length === troubles.length ? NO_TROUBLE_TEXT : SOME_ZEROS_TEXT;
  return { line: `${head}: ${listOf(zeros)}`, others: figures.filter((figure) => !isTold(figure)) };
}

/** Whether a figure is zero, and was not known to be more the week before. */
function isOldZero({ now, before }: FigureView): boolean {
  return now === 0 && (before ?? 0) === 0;
}

/** Says of each that it is as before, or once for all of them. */
function listOf(zeros: readonly FigureView[]): string {
  const isCompared = ({ before }: FigureView) => before !== null;
  const names = zeros.map((figure) => ({ text: `0 ${TROUBLES[figure.key]}`, compared: isCompared(figure) }));
  if (zeros.every(isCompared)) return `${names.map(({ text }) => text).join(", ")}, como na semana anterior`;
  return names.map(({ text, compared }) => (compared ? `${text} (igual)` : text)).join(", ");
}
