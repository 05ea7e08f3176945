import type { ChannelName } from "../../payload.ts";
import { isHandful, isTrouble, questionsOf } from "./figure-meaning.ts";
import type { FigureView } from "./figures.ts";

/** With more large figures than these nothing stands out. */
const MAX_MAIN_FIGURES = 3;

/**
 * The figures that matter most, in the order of the channel's questions.
 *
 * Behaviour: the best known figure of each question, then the first others until there are three; never a figure
 *            without data or one of trouble. Of a handful of e-mails their numbers come before their rates.
 */
export function mainFigures(channel: ChannelName, figures: readonly FigureView[]): FigureView[] {
  const known = figures.filter(({ value }) => value !== null);
  const isFew = channel === "email" && isHandful(known.find(({ key }) => key === "sends")?.now);
  const answers = questionsOf(channel).flatMap((names) => firstOf(isFew ? names.toReversed() : names, known));
  const others = known.filter((figure) => !answers.includes(figure) && !isTrouble(channel, figure.key));
  return [...answers, ...others].slice(0, MAX_MAIN_FIGURES);
}

function firstOf(names: readonly string[], figures: readonly FigureView[]): FigureView[] {
  const found = names.map((name) => figures.find(({ key }) => key === name));
  return found.filter((figure) => figure !== undefined).slice(0, 1);
}
