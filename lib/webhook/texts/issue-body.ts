import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import type { Alert } from "../alert/alert.ts";
import { alertnameOf, NAMELESS } from "../alert/name.ts";
import { formatAlertTime } from "../alert/time.ts";
import { breakLinks } from "./break-links.ts";
import { labelTable } from "./label-table.ts";
import { markdownPlain, markdownQuote } from "./markdown-plain.ts";
import { textLines } from "./text-lines.ts";
import { webLink } from "./web-link.ts";
import { leftOutWording, stateWording, troubleWording } from "./wording.ts";

const MAX_UNITS = 60_000;

/** How long the sender's texts may be, as markdown; the description gets what is left, at least 20,000. */
const MAX = { title: 255, summary: 4000, short: 1000, value: 2000, labels: 20_000 } as const;

const PRIORITIES: ReadonlyMap<string, IssuePriority> = new Map([
  ["critical", 1],
  ["high", 2],
  ["warning", 3],
]);

/** The tracker's scale: 1 urgent, 2 high, 3 medium, 4 low, 0 none. */
export type IssuePriority = 0 | 1 | 2 | 3 | 4;

/**
 * The title of an alert's issue: `[ALERTA][infra] Traefik RAM Alta`.
 *
 * Shape:  one line, the name unescaped; shortened with "…" beyond 255 UTF-16 units.
 * Source: monitoring document, Endpoints, Behaviour 5.
 */
export function issueTitle({ squad, labels }: Pick<Alert, "squad" | "labels">): string {
  return truncate(`[ALERTA][${squad}] ${alertnameOf(labels) ?? NAMELESS}`, MAX.title);
}

/** The priority of an alert's issue; a severity that is none of ours, or none at all, is no priority. */
export function issuePriority(severity: string | null): IssuePriority {
  return PRIORITIES.get(severity?.trim().toLowerCase() ?? "") ?? 0;
}

/**
 * The description of an alert's issue, in markdown.
 *
 * Shape:  a list of what is known, the description as a quotation, the labels as a table sorted by name; at most 60,000
 *         UTF-16 units. The sender's texts cannot become markup, links or HTML; but for what would be a link they are
 *         shown as they are. The links to rule, silence and dashboard lead to http and https only.
 * Source: design of the webhook, Issue body.
 */
export function renderIssueBody(alert: Alert): string {
  const facts = factList(alert);
  const table = labelTable(alert.labels, MAX.labels);
  const labels = table === null ? "" : `\n**Labels**\n\n${table}\n`;
  const lines = textLines(alert.description ?? "").map(breakLinks);
  if (lines.length === 0) return `${facts}\n${labels}`;
  const heading = "\n**Descrição**\n\n";
  const room = MAX_UNITS - `${facts}\n${heading}\n${labels}`.length;
  return `${facts}\n${heading}${markdownQuote(lines, room)}\n${labels}`;
}

function factList(alert: Alert): string {
  const { marker, words } = stateWording(alert);
  const facts: [string, string | null][] = [
    ["Estado", `${marker} ${markdownPlain(words, MAX.short)}`],
    ["Problema", troubleWording(alert)],
    ["Squad", alert.squad],
    ["Severidade", plain(alert.severity, MAX.short)],
    ["Resumo", plain(alert.summary, MAX.summary)],
    ["Início", brazilTime(alert.startsAt)],
    ["Fim", alert.status === "resolved" ? brazilTime(alert.endsAt) : null],
    ["Valor", plain(alert.value, MAX.value)],
    ["Regra", link(alert.ruleUrl)],
    ["Silenciar", link(alert.silenceUrl)],
    ["Painel", link(alert.dashboardUrl)],
    ["Fingerprint", plain(alert.fingerprint, MAX.short)],
    ["Notificação", leftOutWording(alert)],
  ];
  return facts
    .filter(([, text]) => text !== null && text !== "")
    .map(([title, text]) => `- **${title}:** ${text}`)
    .join("\n");
}

function plain(text: string | null, maxUnits: number): string | null {
  return text === null ? null : markdownPlain(breakLinks(singleLine(text)), maxUnits);
}

function brazilTime(instant: string | null): string | null {
  const time = formatAlertTime(instant);
  return time === null ? null : `${time} (America/Sao_Paulo)`;
}

/** Between angle brackets, where neither entities nor backslashes mean anything. */
function link(url: string | null): string | null {
  const href = webLink(url);
  return href === null ? null : `<${href}>`;
}
