import { formatCount } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import type { Alert } from "../alert/alert.ts";
import { datasourceTrouble } from "../alert/name.ts";
import { breakLinks } from "./break-links.ts";

/** Two words say a state; a sender that writes an essay there is cut short. */
const MAX_STATUS_UNITS = 60;

const TROUBLES = {
  DatasourceNoData: "a consulta da regra não trouxe dados",
  DatasourceError: "a regra não pôde ser avaliada",
} as const;

/**
 * An alert's state for people, with the marker that is seen first.
 *
 * Shape: a status that is neither firing nor resolved is shown as it was sent, on one line without links, unescaped.
 */
export function stateWording({ status, firing }: Alert): { marker: string; words: string } {
  if (firing) return { marker: "🔴", words: "disparado" };
  if (status === "resolved") return { marker: "✅", words: "resolvido" };
  const shown = truncate(breakLinks(singleLine(status ?? "")), MAX_STATUS_UNITS);
  return { marker: "⚪", words: shown === "" ? "sem estado" : `estado "${shown}"` };
}

/** What it means that the platform alerts on its own measuring; null for an ordinary alert. */
export function troubleWording({ labels }: Alert): string | null {
  const trouble = datasourceTrouble(labels);
  return trouble === null ? null : `${trouble}, ${TROUBLES[trouble]}`;
}

/** That the sender left alerts out of its notification; null when it left out none. */
export function leftOutWording({ truncatedAlerts }: Alert): string | null {
  if (truncatedAlerts <= 0) return null;
  // The sender's number, and two billions with their dots are an address.
  return breakLinks(`+${formatCount(truncatedAlerts, "alerta não mostrado", "alertas não mostrados")}`);
}
