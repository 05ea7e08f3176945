import { type Html, html } from "../../../text/html.ts";
import { formatCount } from "../../../text/pt-br.ts";
import { singleLine } from "../../../text/single-line.ts";
import { NAMELESS } from "../../alert/name.ts";
import type { DeadRow } from "../../state/contract.ts";
import { renderTime } from "./render-alerts.ts";
import { ROW_NAMES } from "./wording.ts";

/** What was given up or is in doubt, newest first; `lost` is null when there is too much of it, empty for nothing. */
export function renderLost(lost: readonly DeadRow[] | null, nowMs: number): Html | null {
  if (lost !== null && lost.length === 0) return null;
  return html`<section class="panel lost">
<div class="head"><h2>Desistidos e em dúvida</h2><span class="note"><code>opsctl webhook dead list</code></span></div>
${lost === null ? html`<p class="note">São muitos para esta página.</p>` : lostTable(lost, nowMs)}
</section>
`;
}

function lostTable(lost: readonly DeadRow[], nowMs: number): Html {
  return html`<table>
<thead><tr><th>Desde</th><th>Alerta</th><th>O que houve</th></tr></thead>
<tbody>
${lost.map((row) => lostRow(row, nowMs))}</tbody>
</table>`;
}

function lostRow({ diedAt, alertname, squad, kind, status, code, attempts }: DeadRow, nowMs: number): Html {
  const word = status === "dead" ? "desistido" : "em dúvida";
  return html`<tr>
<td class="when">${renderTime(Date.parse(diedAt), nowMs)}</td>
<td class="what"><bdi class="name">${singleLine(alertname ?? "") || NAMELESS}</bdi><span class="small">${ROW_NAMES[kind]} · ${squad}</span></td>
<td class="message"><span class="fate bad">${word}</span> <code>${code}</code><span class="small">${formatCount(attempts, "tentativa", "tentativas")}</span></td>
</tr>
`;
}
