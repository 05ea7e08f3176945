import type { Alert } from "../../alert/alert.ts";
import { durationText } from "../duration.ts";
import { lastedMs } from "../message/timing.ts";
import { timesWording, verdictWords } from "../wording.ts";

/**
 * The comment on the issue of an alert that has resolved, in markdown: when, and after how long.
 *
 * Shape: one line of our own words; what is not known is left out.
 */
export function renderResolvedComment(alert: Alert): string {
  const { start, end } = timesWording(alert, "America/Sao_Paulo");
  const ms = lastedMs(alert);
  const verdict = verdictWords(alert) === "" ? "Resolvido" : "A regra voltou a ser avaliada";
  return [
    `✅ ${verdict}`,
    end === null ? null : ` em ${end}`,
    ms === null ? null : `, depois de ${durationText(ms)}`,
    start === null ? null : `. Início: ${start}`,
    ".",
  ]
    .filter((part) => part !== null)
    .join("");
}
