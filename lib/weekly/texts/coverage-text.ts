import { joinNames } from "../../text/pt-br.ts";
import { CHANNELS, type Payload } from "../payload.ts";
import { CHANNEL_LABELS } from "./channel-label.ts";

/** Which channels have only a part of their data, and which have none. */
export function coverageText(channels: Payload["channels"]): string {
  const labelsOf = (coverage: string) =>
    CHANNELS.filter((name) => channels[name].coverageStatus === coverage).map((name) => CHANNEL_LABELS[name]);
  const partial = labelsOf("partial");
  const missing = labelsOf("unavailable");
  if (missing.length === CHANNELS.length) return "Nenhum canal tem dados desta semana.";
  if (partial.length + missing.length === 0)
    return "Cobertura completa: todos os canais têm dados desta semana.";
  const parts = [
    "Cobertura parcial.",
    partial.length > 0 ? `Dados incompletos: ${joinNames(partial)}.` : "",
    missing.length > 0 ? `Sem dados: ${joinNames(missing)}.` : "",
  ];
  return parts.filter(Boolean).join(" ");
}
