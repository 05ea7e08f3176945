import { formatCount, formatNumber } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { isOurFailure } from "../our-failure.ts";
import type { Channel, ChannelName } from "../payload.ts";
import { CHANNEL_LABELS } from "./channel-label.ts";

const MAX_REASON_UNITS = 180;

/** A code that has no sentence here, as opposed to a sentence of the analysis. */
const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;

const REASONS: Record<string, (label: string) => string> = {
  not_connected: (label) => `Nenhuma conta do ${label} está conectada.`,
  not_integrated: (label) => `O canal ${label} ainda não tem integração com este relatório.`,
  no_sends_in_window: () => "Não registramos nenhum e-mail enviado por você nesta semana.",
  no_events_in_window: () => "Os seus envios desta semana ainda não têm informação de entrega.",
  events_incomplete: () => "Uma parte dos seus envios desta semana não tem informação de entrega.",
  analysis_missing: (label) => `A análise do ${label} não ficou pronta para esta semana.`,
  analysis_unavailable: (label) => `A análise do ${label} não encontrou dados suficientes nesta semana.`,
};

/**
 * Why a channel has no data, as a sentence for the owner.
 *
 * Shape: one bounded line; the analysis's own text is neutralised but not escaped.
 */
export function reasonText(channel: ChannelName, reason: string): string {
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  if (known !== undefined) return known(CHANNEL_LABELS[channel]);
  if (isOurFailure(reason))
    return `Não conseguimos ler os dados do ${CHANNEL_LABELS[channel]} nesta semana; você não precisa fazer nada.`;
  return informedReason(reason, `A análise do ${CHANNEL_LABELS[channel]} não trouxe dados nesta semana`);
}

/**
 * Why a channel's data is not complete, as a sentence for the owner.
 *
 * Behaviour: a code means that one of several connected accounts has no analysis; the figures are those of another. For
 *            e-mail it says how many sends the rates leave out.
 */
export function partialText(
  channel: ChannelName,
  { reason, metrics }: Pick<Channel, "reason" | "metrics">,
): string {
  if (channel === "email" && reason === "events_incomplete") return incompleteText(metrics ?? {});
  if (channel === "email" && reason === "no_events_in_window") return reasonText(channel, reason);
  if (Object.hasOwn(REASONS, reason ?? "") || isOurFailure(reason)) {
    return `Uma das contas do ${CHANNEL_LABELS[channel]} ficou sem análise nesta semana; os números são de outra.`;
  }
  return informedReason(reason ?? "", "Os dados deste canal estão incompletos nesta semana");
}

function incompleteText({ sends, noEvent, deliveryRate }: NonNullable<Channel["metrics"]>): string {
  if (typeof sends !== "number" || typeof noEvent !== "number") return REASONS.events_incomplete!("");
  const [have, stay] = noEvent === 1 ? ["tem", "fica"] : ["têm", "ficam"];
  const rates = deliveryRate === null ? ": por isso não há taxas" : ` e ${stay} fora das taxas`;
  const whole = formatCount(sends, "envio", "envios");
  return `Dos seus ${whole} desta semana, ${formatNumber(noEvent)} não ${have} informação de entrega${rates}.`;
}

/** The analysis's own words; where it has none, `fact`, with the code that it gave. */
function informedReason(reason: string, fact: string): string {
  const text = truncate(singleLine(reason), MAX_REASON_UNITS);
  if (text === "") return `${fact}.`;
  return CODE.test(text) ? `${fact} (código: ${text}).` : `Motivo informado pela análise: ${text}`;
}
