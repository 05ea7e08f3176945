import { type Html, html } from "../../text/html.ts";
import { formatCount } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { Temporal } from "../../time/temporal.ts";
import { NAMELESS } from "../alert/name.ts";
import { endedUnmeasured } from "../alert/state-reason.ts";
import { formatAlertTime, formatClockTime } from "../alert/time.ts";
import type { RowState, ShownAlert } from "../store/model.ts";
import type { DeadRow } from "../store/operator.ts";
import type { RecentAlert } from "../store/reads.ts";
import { webLink } from "../texts/links.ts";
import { severityWord, stateWords } from "../texts/wording.ts";
import { delayText, KIND_WORDS } from "./wording.ts";

const STATES = { queued: "na fila", delivered: "criada", dead: "não entregue", unknown: "incerta" } as const;
const DOTS: ReadonlySet<string> = new Set(["critical", "high", "warning"]);

/** Renders the latest alerts and the result of each, newest first. */
export function renderAlerts(alerts: readonly RecentAlert[], nowMs: number): Html {
  const notes = ["Nenhum alerta até agora.", "1"];
  const note = notes[alerts.length] ?? `os ${alerts.length} mais novos`;
  const rows = alerts.map((alert) => alertRow(alert, nowMs));
  return tablePanel("Últimos alertas", note, ["Chegou", "Alerta", "Mensagem", "Issue"], rows);
}

/** Renders what is dead or unknown, newest first; nothing of none. */
export function renderDead(rows: readonly DeadRow[], nowMs: number): Html | null {
  if (rows.length === 0) return null;
  const shown = rows.map((row) => deadRow(row, nowMs));
  const note = html`<code>opsctl webhook dead list</code>`;
  return tablePanel("Não entregues ou incertos", note, ["Desde", "Alerta", "Resultado"], shown);
}

function tablePanel(title: string, note: Html | string, columns: string[], rows: readonly Html[]): Html {
  const table = html`<table>
<thead><tr>${columns.map((column) => html`<th>${column}</th>`)}</tr></thead>
<tbody>
${rows}</tbody>
</table>
`;
  return html`<section class="panel">
<h2>${title} <span class="note">${note}</span></h2>
${rows.length === 0 ? null : table}</section>
`;
}

function deadRow({ diedAt, alertname, squad, kind, status, code, attempts }: DeadRow, nowMs: number): Html {
  const name = singleLine(alertname ?? "") || NAMELESS;
  return html`<tr>
<td class="when">${timeOf(Date.parse(diedAt), nowMs)}</td>
<td class="what"><b><bdi>${name}</bdi></b><small>${KIND_WORDS[kind].row} · ${squad}</small></td>
<td>${resultOf(status, STATES[status], code)}<small>${formatCount(attempts, "tentativa", "tentativas")}</small></td>
</tr>
`;
}

function alertRow({ acceptedAtMs, shown, message, issue }: RecentAlert, nowMs: number): Html {
  const { status, code, endedAtMs, isEmailed } = message;
  const name = singleLine(shown.name ?? "") || NAMELESS;
  const about = singleLine(shown.about);
  const severity = severityWord(shown.severity) ?? singleLine(shown.severity ?? "");
  const texts = [severity, shown.squad, stateWords(shown)].filter((text) => text !== "");
  const details = texts.map((text, at) => html`${at === 0 ? null : " · "}<bdi>${text}</bdi>`);
  const delay = delayText((endedAtMs ?? nowMs) - acceptedAtMs);
  const words = { ...STATES, queued: `na fila há ${delay}`, delivered: `enviada em ${delay}` };
  return html`<tr>
<td class="when">${timeOf(acceptedAtMs, nowMs)}</td>
<td class="what ${dotOf(shown)}"><b><bdi>${name}</bdi></b>${about && html` · <bdi>${about}</bdi>`}<small>${details}</small></td>
<td>${resultOf(status, words[status], code)}${isEmailed ? html`<small>também por e-mail</small>` : null}</td>
<td class="issue">${issue && issueResult(issue)}</td>
</tr>
`;
}

/** An instant as short as it can be understood, the whole of it on demand. */
function timeOf(ms: number, nowMs: number): Html {
  const instant = Temporal.Instant.fromEpochMilliseconds(ms);
  return html`<time title="${formatAlertTime(instant.toString()) ?? ""}">${formatClockTime(instant, nowMs)}</time>`;
}

function dotOf(shown: ShownAlert): string {
  const { firing, status, severity } = shown;
  if (!firing) return status === "resolved" && !endedUnmeasured(shown) ? "resolved" : "other";
  const known = severity?.trim().toLowerCase() ?? "";
  return DOTS.has(known) ? known : "info";
}

function issueResult({ status, code, url }: NonNullable<RecentAlert["issue"]>): Html {
  const href = webLink(url);
  if (status !== "delivered" || href === null) return resultOf(status, STATES[status], code);
  const identifier = /\/issue\/([A-Z][A-Z0-9]{0,15}-\d{1,10})(?:[/?#]|$)/.exec(href)?.[1];
  return html`<a href="${href}">${identifier ?? STATES.delivered}</a>`;
}

function resultOf(status: RowState, words: string, code: string | null): Html {
  const shown = status === "delivered" || code === null ? null : html` <code>${code}</code>`;
  return html`<span class="result ${status}">${words}</span>${shown}`;
}
