import { formatCount } from "../../text/pt-br.ts";
import type { Payload } from "../payload.ts";

/** The score line of both messages when there is no score. */
const NO_SCORE_TEXT = "Ainda não há histórico suficiente para o score geral";

/** The score's change since the week before; `unknown` when there is nothing to compare with. */
export type ScoreTrend = "up" | "down" | "flat" | "unknown";

/** The score as people see it: whole numbers, and its change in words. */
export type ScoreView = {
  score: number | null;
  previous: number | null;
  trend: ScoreTrend;
  line: string;
  change: string | null;
};

/**
 * The account's score for people.
 *
 * Units: 0 to 100, halves up, for display only. The change is that of the whole numbers shown, so that they add up.
 */
export function scoreView({ score, previousScore }: Payload["accountScore"]): ScoreView {
  const shown = shownScore(score);
  const previous = shownScore(previousScore);
  if (shown === null) return { score: null, previous, trend: "unknown", line: NO_SCORE_TEXT, change: null };
  return {
    score: shown,
    previous,
    trend: previous === null ? "unknown" : trendOf(shown - previous),
    line: `Score geral: ${shown}/100`,
    change: previous === null ? "Sem score da semana anterior para comparar" : changeText(shown, previous),
  };
}

/** A score as people see it: a whole number, halves up; null is absence. */
export function shownScore(score: number | null): number | null {
  return score === null ? null : Math.floor(score + 0.5);
}

function trendOf(difference: number): ScoreTrend {
  if (difference === 0) return "flat";
  return difference > 0 ? "up" : "down";
}

function changeText(shown: number, previous: number): string {
  if (shown === previous) return `Igual à semana anterior (${previous}/100)`;
  const points = formatCount(Math.abs(shown - previous), "ponto", "pontos");
  return `${points} a ${shown > previous ? "mais" : "menos"} que na semana anterior (${previous}/100)`;
}
