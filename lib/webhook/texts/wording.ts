import type { NewIssue } from "../../providers/issue-outcome.ts";
import { formatCount } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { REPORT_ZONE } from "../../time/local-date.ts";
import type { Alert } from "../alert/alert.ts";
import { datasourceTrouble } from "../alert/name.ts";
import { endedUnmeasured, type StateReason } from "../alert/state-reason.ts";
import { formatAlertTime } from "../alert/time.ts";
import type { RecoveryNote } from "../store/model.ts";

/** A state is a word or two; a longer one is cut. */
const MAX_STATUS_UNITS = 60;

type Severity = { marker: string; word: string; priority: NewIssue["priority"] };
const SEVERITIES: ReadonlyMap<string, Severity> = new Map([
  ["critical", { marker: "🔴", word: "Crítico", priority: 1 }],
  ["high", { marker: "🟠", word: "Alto", priority: 2 }],
  ["warning", { marker: "🟡", word: "Aviso", priority: 3 }],
  ["info", { marker: "🔵", word: "Informativo", priority: 0 }],
]);

const [NO_DATA, FAILED] = ["A consulta da regra não trouxe dados", "A avaliação da regra falhou"];

/** As long as it lasts, and afterwards. */
const TROUBLES = {
  DatasourceNoData: [NO_DATA, "A consulta da regra não trazia dados"],
  DatasourceError: [FAILED, "A avaliação da regra falhava"],
} as const;

const REASONS: Readonly<Record<StateReason, string>> = {
  NoData: NO_DATA,
  MissingSeries: "A série da regra sumiu",
  Error: FAILED,
  Paused: "A regra foi pausada",
  Updated: "A regra foi alterada",
  RuleDeleted: "A regra foi apagada",
};

/** The parts that are there, with a separator between them. */
export function joined(parts: readonly (string | null)[], separator: string): string {
  return parts.filter(Boolean).join(separator);
}

/** The sign that stands first: the severity of what fires, else how it ended. */
export function markerOf(alert: Alert): string {
  const { firing, status, labels, severity } = alert;
  if (firing ? datasourceTrouble(labels) !== null : endedUnmeasured(alert)) return "⚠️";
  if (firing) return severityOf(severity)?.marker ?? "🔵";
  return status === "resolved" ? "✅" : "⚪";
}

/**
 * The state of an alert, as a word behind nothing: `disparado`, `resolvido`.
 *
 * Behaviour: a status that is neither firing nor resolved is shown as it was sent, on one line, unescaped.
 */
export function stateWords(alert: Pick<Alert, "status" | "firing" | "reason">): string {
  if (alert.firing) return "disparado";
  if (endedUnmeasured(alert)) return "encerrado";
  if (alert.status === "resolved") return "resolvido";
  const shown = truncate(singleLine(alert.status ?? ""), MAX_STATUS_UNITS);
  return shown === "" ? "sem estado" : `estado "${shown}"`;
}

/** A known severity as people read it; null for another one, which is shown as it was sent. */
export function severityWord(severity: string | null): string | null {
  return severityOf(severity)?.word ?? null;
}

/** What follows the name of a rule that was not evaluated, or whose alert ended unmeasured; empty for others. */
export function verdictWords(alert: Alert): string {
  if (datasourceTrouble(alert.labels) === null) return endedUnmeasured(alert) ? "encerrado sem medição" : "";
  if (endedUnmeasured(alert)) return "segue sem medição";
  return alert.status === "resolved" ? "voltou a ser avaliado" : "não pôde ser avaliado";
}

/** What went wrong with the measuring itself; null for an alert about what a rule measures. */
export function troubleWording({ labels, status }: Alert): string | null {
  const trouble = datasourceTrouble(labels);
  if (trouble === null) return null;
  return `${TROUBLES[trouble][status === "resolved" ? 1 : 0]} (${trouble})`;
}

/** Why an alert fires or has ended although nothing was measured; null for one that was. */
export function reasonWording(alert: Alert): string | null {
  const { reason = null, labels } = alert;
  const isOver = endedUnmeasured(alert);
  if (reason === null || (!isOver && datasourceTrouble(labels) !== null)) return null;
  return `${REASONS[reason]}${isOver ? ": o problema pode continuar" : ""} (${reason})`;
}

/** How many alerts the sender left out of its notification; null for none. */
export function leftOutWording({ truncatedAlerts }: Pick<Alert, "truncatedAlerts">): string | null {
  if (truncatedAlerts <= 0) return null;
  return `+${formatCount(truncatedAlerts, "alerta não mostrado", "alertas não mostrados")}`;
}

/** What was e-mailed, or not delivered, while WhatsApp took nothing; empty when that is nothing. */
export function recoveryWording({ emailed, undelivered }: RecoveryNote): string {
  const mailed = formatCount(emailed, "alerta avisado por e-mail", "alertas avisados por e-mail");
  const lost = formatCount(undelivered, "alerta não entregue", "alertas não entregues");
  const said = joined([emailed > 0 ? mailed : null, undelivered > 0 ? lost : null], ", ");
  return said && `Enquanto o WhatsApp não recebia: ${said}`;
}

/** When an alert began and, if it is resolved, ended, on the clock that people read. */
export function timesWording({ status, startsAt, endsAt }: Alert) {
  return { start: timeWording(startsAt), end: status === "resolved" ? timeWording(endsAt) : null };
}

function timeWording(instant: string | null): string | null {
  const time = formatAlertTime(instant);
  return time === null ? null : `${time} (${REPORT_ZONE})`;
}

/** What is known of a severity, in whatever letters; undefined for another one. */
export function severityOf(severity: string | null): Severity | undefined {
  return SEVERITIES.get(severity?.trim().toLowerCase() ?? "");
}
