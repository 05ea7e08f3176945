import { formatCount } from "../../text/pt-br.ts";

/** Stands below the sentence that there is no score yet. */
export const SCORE_ABSENT_TEXT =
  "Falta de histórico não conta como zero: o score aparece quando houver dados suficientes.";

/** Stands where no channel has an insight. */
export const READINGS_EMPTY_TEXT = "Nenhum canal trouxe destaques nesta semana.";

/** Stands in a card whose analysis has no figure. */
export const NO_FIGURES_TEXT = "A análise desta semana não trouxe números.";

/** Stands in a card whose account the report of the week before has no figures of; it may have those of another one. */
export const NO_PREVIOUS_TEXT = "Sem comparação: o relatório da semana anterior não tem números desta conta.";

/** Stands in a card that compares with a week of which not all data was there. */
export const PARTIAL_PREVIOUS_TEXT = "Compare com cuidado: os dados da semana anterior estavam incompletos.";

/** Stands once above the cards where the week before has no report at all. */
export const FIRST_COMPARISON_TEXT =
  "Não há relatório da semana anterior: as comparações dos canais começam no próximo.";

/** Stands in the card of a channel that reports do not cover yet. */
export const NOT_INTEGRATED_TEXT = "Ainda sem integração";

/** Begins the line of trouble that did not occur, where all of it was measured. */
export const NO_TROUBLE_TEXT = "Sem problemas de entrega";
/** Begins that line where only some of the trouble is known to be zero. */
export const SOME_ZEROS_TEXT = "Nenhum caso";

/** What the button of the head and that of the end say. */
export const BUTTON_TEXT = "Ver relatório completo";

/** The closing note: which week, in which time zone, and what an absent figure means. */
export function weekNote(days: string): string {
  return `Semana de segunda a domingo, ${days}, no horário de Brasília. Onde não há dado, o relatório diz “sem dado”: ausência nunca vira zero.`;
}

/** Says what the changes compare with. */
export const CHANGE_NOTE = "As comparações são com a semana anterior; p.p. são pontos percentuais.";

/** "e mais 3 destaques no relatório completo". */
export function moreText(count: number, singular: string, plural: string): string {
  return `e mais ${formatCount(count, singular, plural)} no relatório completo`;
}

/** Who sends the e-mail, and why to this person. */
export function senderNote(host: string, name: string | null): string {
  const account = name === null ? "por uma conta" : `pela conta ${name}`;
  const stop = /[.!?…]$/.test(account) ? "" : ".";
  return `Enviado automaticamente por ${host}. Você recebe este resumo toda semana porque é responsável ${account}${stop}`;
}

/** What the link to stop these e-mails says. */
export const UNSUBSCRIBE_TEXT = "Parar de receber este resumo";
