import type { Alert } from "../../alert/alert.ts";
import { datasourceTrouble } from "../../alert/name.ts";
import { endedUnmeasured } from "../../alert/state-reason.ts";
import { durationText, lastedMs } from "../duration.ts";
import { markerOf, reasonWording, timesWording } from "../wording.ts";

/**
 * The comment on the issue of an alert that has resolved, in markdown: when, and after how long.
 *
 * Shape: one line of our own words; what is not known is left out.
 */
export function renderResolvedComment(alert: Alert): string {
  const { start, end } = timesWording(alert);
  const ms = lastedMs(alert);
  const reason = reasonWording(alert);
  const isTrouble = datasourceTrouble(alert.labels) !== null;
  const resolved = isTrouble ? "A regra voltou a ser avaliada" : "Resolvido";
  return [
    `${markerOf(alert)} ${endedUnmeasured(alert) ? "Encerrado sem medição" : resolved}`,
    end === null ? "" : ` em ${end}`,
    ms === null ? "" : `, depois de ${durationText(ms)}`,
    start === null ? "." : `. Início: ${start}.`,
    reason === null ? "" : ` ${reason}.`,
  ].join("");
}
