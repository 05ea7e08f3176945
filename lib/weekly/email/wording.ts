import { formatCount } from "../../text/pt-br.ts";

/** Stands below the sentence that there is no score yet. */
export const SCORE_ABSENT_TEXT =
  "Falta de histórico não conta como zero: o score aparece quando houver dados suficientes.";

/** Stands where no channel has an insight. */
export const READINGS_EMPTY_TEXT = "Nenhum canal trouxe leituras nesta semana.";

/** The closing note: which week, in which time zone, and what an absent figure means. */
export function weekNote(days: string): string {
  return `Semana de segunda a domingo, ${days}, no horário de Brasília. Onde não há dado, o relatório diz “sem dado”: ausência nunca vira zero.`;
}

/** "e mais 3 leituras no relatório completo". */
export function moreText(count: number, singular: string, plural: string): string {
  return `e mais ${formatCount(count, singular, plural)} no relatório completo`;
}
