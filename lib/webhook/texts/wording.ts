import { formatCount } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import type { Alert } from "../alert/alert.ts";
import { datasourceTrouble } from "../alert/name.ts";
import { formatAlertTime } from "../alert/time.ts";
import { breakLinks } from "./break-links.ts";

/** A state is a word or two; a longer one is cut. */
const MAX_STATUS_UNITS = 60;

const TROUBLES = {
  DatasourceNoData: "a consulta da regra não trouxe dados",
  DatasourceError: "a regra não pôde ser avaliada",
} as const;

/**
 * An alert's state for people, with the marker that stands first.
 *
 * Behaviour: a status that is neither firing nor resolved is shown as it was sent, on one line without links, unescaped.
 */
export function stateWording({ status, firing }: Alert): { marker: string; words: string } {
  if (firing) return { marker: "🔴", words: "disparado" };
  if (status === "resolved") return { marker: "✅", words: "resolvido" };
  const shown = truncate(breakLinks(singleLine(status ?? "")), MAX_STATUS_UNITS);
  return { marker: "⚪", words: shown === "" ? "sem estado" : `estado "${shown}"` };
}

/** What went wrong with the measuring itself; null for an alert about what a rule measures. */
export function troubleWording({ labels }: Alert): string | null {
  const trouble = datasourceTrouble(labels);
  return trouble === null ? null : `${trouble}, ${TROUBLES[trouble]}`;
}

/** How many alerts the sender left out of its notification; null for none. */
export function leftOutWording({ truncatedAlerts }: Alert): string | null {
  if (truncatedAlerts <= 0) return null;
  // The number is the sender's, and a large one with its dots looks like an address.
  return breakLinks(`+${formatCount(truncatedAlerts, "alerta não mostrado", "alertas não mostrados")}`);
}

/** When an alert began and, if it is resolved, ended, on the clock that people read; `zone` is its name in the text. */
export function timesWording(
  { status, startsAt, endsAt }: Alert,
  zone: string,
): { start: string | null; end: string | null } {
  const shown = (instant: string | null) => {
    const time = formatAlertTime(instant);
    return time === null ? null : `${time} (${zone})`;
  };
  return { start: shown(startsAt), end: status === "resolved" ? shown(endsAt) : null };
}
