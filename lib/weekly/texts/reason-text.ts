import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import type { ChannelName } from "../payload.ts";
import { CHANNEL_LABELS } from "./channel-label.ts";

const MAX_REASON_UNITS = 180;

/** The codes of a failed call of the application. */
const FAILED_CALL = /^APP_(HTTP_\d{3}|TIMEOUT|UNREACHABLE)$/;

/** A code that has no sentence here, as opposed to a sentence of the analysis. */
const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;

const REASONS: Record<string, (label: string) => string> = {
  not_connected: (label) => `Nenhuma conta do ${label} está conectada.`,
  not_integrated: (label) => `O canal ${label} ainda não tem integração com este relatório.`,
  no_sends_in_window: () => "Nenhum e-mail foi enviado nesta semana.",
  no_events_in_window: () => "Os envios desta semana ainda não têm eventos registrados.",
  analysis_missing: (label) => `A análise do ${label} não ficou pronta para esta semana.`,
  analysis_malformed: (label) => `A análise do ${label} veio em um formato que não pôde ser lido.`,
  analysis_unavailable: (label) => `A análise do ${label} não encontrou dados suficientes nesta semana.`,
  collection_lease_exhausted: (label) => `A coleta do ${label} não terminou a tempo nesta semana.`,
};

/**
 * Why a channel has no data, as a sentence for the owner.
 *
 * Shape: one bounded line; the analysis's own text is neutralised but not escaped.
 */
export function reasonText(channel: ChannelName, reason: string): string {
  const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined;
  if (known !== undefined) return known(CHANNEL_LABELS[channel]);
  if (FAILED_CALL.test(reason))
    return `Não foi possível obter a análise do ${CHANNEL_LABELS[channel]} nesta semana.`;
  return informedReason(reason);
}

/**
 * Why a channel's data is not complete, as a sentence for the owner.
 *
 * Behaviour: a code means that one of several connected accounts has no analysis; the figures are those of another.
 */
export function partialText(channel: ChannelName, reason: string | null): string {
  if (reason === null) return "Os dados deste canal cobrem só uma parte da semana.";
  if (channel === "email") return reasonText(channel, reason);
  if (Object.hasOwn(REASONS, reason) || FAILED_CALL.test(reason)) {
    return `Uma das contas do ${CHANNEL_LABELS[channel]} ficou sem análise nesta semana; os números são de outra.`;
  }
  return informedReason(reason);
}

/** The analysis's own words, or a code that has no sentence here. */
function informedReason(reason: string): string {
  const text = truncate(singleLine(reason), MAX_REASON_UNITS);
  if (text === "") return "O motivo não foi informado.";
  return CODE.test(text)
    ? `Motivo informado pela análise: código ${text}.`
    : `Motivo informado pela análise: ${text}`;
}
