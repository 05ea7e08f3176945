import { type Html, html } from "../../../text/html.ts";
import { singleLine } from "../../../text/single-line.ts";
import { Temporal } from "../../../time/temporal.ts";
import { NAMELESS } from "../../alert/name.ts";
import { endedUnmeasured } from "../../alert/state-reason.ts";
import { formatAlertTime, formatClockTime } from "../../alert/time.ts";
import type { RecentAlert, ShownAlert } from "../../state/contract.ts";
import { webLink } from "../../texts/links.ts";
import { severityWord, stateWords } from "../../texts/wording.ts";
import type { Level } from "./verdict.ts";
import { delayText } from "./wording.ts";

/** What became of a row, in words; `code` is the reason, or null. */
type Fate = { level: Level; words: string; code: string | null };

const LOST = { dead: "desistida", in_doubt: "em dúvida" } as const;

/** The latest alerts and what became of each, newest first. */
export function renderAlerts(alerts: readonly RecentAlert[], nowMs: number): Html {
  if (alerts.length === 0)
    return html`<section class="panel"><h2>Últimos alertas</h2><p class="note">Nenhum alerta até agora.</p></section>
`;
  return html`<section class="panel alerts">
<div class="head"><h2>Últimos alertas</h2><span class="note">${alerts.length === 1 ? "1" : `os ${alerts.length} mais novos`}</span></div>
<table>
<thead><tr><th>Chegou</th><th>Alerta</th><th>Mensagem</th><th>Issue</th></tr></thead>
<tbody>
${alerts.map((alert) => alertRow(alert, nowMs))}</tbody>
</table>
</section>
`;
}

/** An instant as short as it can be understood, the whole of it on demand. */
export function renderTime(ms: number, nowMs: number): Html {
  const instant = Temporal.Instant.fromEpochMilliseconds(ms);
  const iso = instant.toString();
  return html`<time datetime="${iso}" title="${formatAlertTime(iso) ?? ""}">${formatClockTime(instant, nowMs)}</time>`;
}

function alertRow({ acceptedAtMs, shown, message, issue }: RecentAlert, nowMs: number): Html {
  const fate = messageFate(message, acceptedAtMs, nowMs);
  return html`<tr>
<td class="when">${renderTime(acceptedAtMs, nowMs)}</td>
<td class="what"><span class="dot ${dotOf(shown)}"></span><bdi class="name">${singleLine(shown.name ?? "") || NAMELESS}</bdi>${aboutOf(shown)}<span class="small">${stateLine(shown)}</span></td>
<td class="message">${fateOf(fate)}${message.isEmailed ? html`<span class="small">também por e-mail</span>` : null}</td>
<td class="issue">${issueOf(issue)}</td>
</tr>
`;
}

function aboutOf({ about }: ShownAlert): Html | null {
  const text = singleLine(about);
  return text === "" ? null : html` <span class="muted">·</span> <bdi>${text}</bdi>`;
}

function stateLine({ severity, squad, ...state }: ShownAlert): Html {
  const word = severityWord(severity) ?? singleLine(severity ?? "");
  const parts = [word, squad, stateWords(state)].filter((part) => part !== "");
  return html`${parts.map((part, at) => html`${at === 0 ? null : " · "}<bdi>${part}</bdi>`)}`;
}

const DOTS: ReadonlySet<string> = new Set(["critical", "high", "warning"]);

function dotOf(shown: ShownAlert): string {
  const { firing, status, severity } = shown;
  if (!firing) return status === "resolved" && !endedUnmeasured(shown) ? "resolved" : "other";
  const known = severity?.trim().toLowerCase() ?? "";
  return DOTS.has(known) ? known : "info";
}

function messageFate(
  { status, code, endedAtMs }: RecentAlert["message"],
  acceptedAtMs: number,
  nowMs: number,
): Fate {
  if (status === "delivered")
    return { level: "ok", words: `enviada em ${delayText((endedAtMs ?? nowMs) - acceptedAtMs)}`, code: null };
  if (status === "queued")
    return { level: "warn", words: `na fila há ${delayText(nowMs - acceptedAtMs)}`, code };
  return { level: "bad", words: LOST[status], code };
}

function issueOf(issue: RecentAlert["issue"]): Html | string {
  if (issue === null) return "";
  const { status, code, url } = issue;
  if (status === "delivered") return linkOf(url);
  if (status === "queued") return fateOf({ level: "warn", words: "na fila", code });
  return fateOf({ level: "bad", words: LOST[status], code });
}

function linkOf(url: string | null): Html | string {
  const href = webLink(url);
  if (href === null) return "criada";
  const identifier = /\/issue\/([A-Z][A-Z0-9]{0,15}-\d{1,10})(?:[/?#]|$)/.exec(href)?.[1];
  return html`<a href="${href}" rel="noreferrer">${identifier ?? "criada"}</a>`;
}

function fateOf({ level, words, code }: Fate): Html {
  return html`<span class="fate ${level}">${words}</span>${code === null ? null : html` <code>${code}</code>`}`;
}
