import { formatDayMonth } from "../../text/pt-br.ts";
import type { Payload } from "../payload.ts";
import { shownScore } from "../texts/score-text.ts";

/** Of fewer weeks with a score, a best one says nothing. */
const MIN_WEEKS_FOR_RECORD = 4;

/** One week of the score row; `score` is null where none is known. */
export type ScoreWeek = { day: string; score: number | null };

/**
 * The last weeks of the score, oldest first.
 *
 * Shape: `label` says all of it in words; `note` says what stands out. Null for a report that does not know them, and
 *        where no week has a score.
 */
export type ScoreWeeksView = { weeks: ScoreWeek[]; label: string; note: string | null };

/**
 * The row of weeks in the e-mail's head.
 *
 * Shape: `previous` is the score of the week before as the application has it now; the row has what the owner was told,
 *        and `previous` where no report of that week told anything: the sentence above the row compares with it.
 */
export function scoreWeeksView(
  history: Payload["provenance"]["scoreHistory"],
  previous: number | null,
): ScoreWeeksView | null {
  if (history === undefined) return null;
  const told = history.map(({ week, score }) => ({ day: dayOf(week), score: shownScore(score) }));
  const weeks = told.with(-2, { day: told.at(-2)!.day, score: told.at(-2)!.score ?? previous });
  if (weeks.every(({ score }) => score === null)) return null;
  const words = weeks.map(({ day, score }) => `${day}: ${score ?? "sem score"}`);
  return {
    weeks,
    label: `Score das últimas oito semanas; cada data é a segunda-feira em que a semana começa. ${words.join("; ")}`,
    note: changedNote(weeks, previous) ?? recordNote(weeks),
  };
}

/** "16/11" of 2026-11-16. */
function dayOf(week: string): string {
  const [, month, day] = week.split("-").map(Number);
  return formatDayMonth({ month: month!, day: day! });
}

/**
 * What has become of the score that the owner was told of the week before.
 *
 * Behaviour: without it two scores of one week, or a score and the sentence that there is none to compare with, would
 *            stand beside each other.
 */
function changedNote(weeks: readonly ScoreWeek[], previous: number | null): string | null {
  const [told, now] = [weeks.at(-2)!.score, weeks.at(-1)!.score];
  if (told === null || told === previous) return null;
  if (previous !== null)
    return `O score da semana anterior foi recalculado: era ${told}, agora é ${previous}.`;
  return now === null
    ? null
    : `O score da semana anterior, ${told}, não está mais disponível para comparação.`;
}

/** Whether this week's score is the only one, the best or the lowest of those shown. */
function recordNote(weeks: readonly ScoreWeek[]): string | null {
  const now = weeks.at(-1)!.score;
  if (now === null) return null;
  const before = weeks.slice(0, -1).flatMap(({ score }) => (score === null ? [] : [score]));
  if (before.length === 0) return "A evolução do score aparece aqui nas próximas semanas.";
  if (before.length + 1 < MIN_WEEKS_FOR_RECORD) return null;
  if (now > Math.max(...before)) return `Seu melhor score ${periodOf(weeks)}.`;
  return now < Math.min(...before) ? `Seu menor score ${periodOf(weeks)}.` : null;
}

function periodOf(weeks: readonly ScoreWeek[]): string {
  const isWhole = weeks.every(({ score }) => score !== null);
  return isWhole ? "nas últimas oito semanas" : "entre as semanas mostradas";
}
