import type { NewIssue } from "../../../providers/issue-outcome.ts";
import { formatCount } from "../../../text/pt-br.ts";
import { singleLine } from "../../../text/single-line.ts";
import { truncate } from "../../../text/truncate.ts";
import { aboutAlert } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { alertnameOf, datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { breakSchemes, markdownLink } from "../links.ts";
import { textLines } from "../text-lines.ts";
import { valueText } from "../value-text.ts";
import * as wording from "../wording.ts";
import { markdownPlain, markdownQuote } from "./markdown-plain.ts";

const MAX_UNITS = 60_000;

/** How long the sender's texts may be, as markdown; the description gets the rest, at least 20,000. */
const MAX = { title: 255, summary: 4000, short: 1000, value: 2000, labels: 20_000, labelName: 300 } as const;

/** Kept free for the line that counts the labels left out. */
const REST_UNITS = 60;

/** From the tracker's priority 1 on. */
const PRIORITIES = ["critical", "high", "warning"];

/**
 * The title of an alert's issue: `[ALERTA][infra] Traefik RAM Alta`.
 *
 * Shape:  one line of at most 255 UTF-16 units, the name unescaped.
 * Source: monitoring document, Endpoints, Behaviour 5.
 */
export function issueTitle({ squad, labels }: Pick<Alert, "squad" | "labels">): string {
  return truncate(`[ALERTA][${squad}] ${alertnameOf(labels) ?? NAMELESS}`, MAX.title);
}

/** The priority of an alert's issue; 0 for a severity that is unknown or missing. */
export function issuePriority(severity: string | null): NewIssue["priority"] {
  return (PRIORITIES.indexOf(severity?.trim().toLowerCase() ?? "") + 1) as NewIssue["priority"];
}

/**
 * The description of an alert's issue, in markdown.
 *
 * Shape:     a list of the known facts, the description as a quotation, the labels as a table sorted by name; at most
 *            60,000 UTF-16 units.
 * Behaviour: the sender's texts are shown unchanged but for links in labels, and cannot become markup, links or HTML.
 *            The links to rule, silence and dashboard are http or https.
 * Source:    design of the webhook, Issue body.
 */
export function renderIssueBody(alert: Alert): string {
  const facts = factList(alert);
  const labels = labelTable(alert.labels);
  const lines = textLines(alert.description ?? "");
  if (lines.length === 0) return `${facts}\n${labels}`;
  const words = datasourceTrouble(alert.labels) === null ? "Descrição" : "Erro da plataforma";
  const heading = `\n**${words}**\n\n`;
  const unitsLeft = MAX_UNITS - `${facts}\n${heading}\n${labels}`.length;
  return `${facts}\n${heading}${markdownQuote(lines, unitsLeft)}\n${labels}`;
}

function factList(alert: Alert): string {
  const { name, squad, severity, summary, fingerprint, labels } = alert;
  const words = wording.verdictWords(alert) || wording.stateWords(alert);
  const { start, end } = wording.timesWording(alert);
  const facts = [
    ["Estado", `${wording.markerOf(alert)} ${markdownPlain(words, MAX.short)}`],
    ["Problema", wording.troubleWording(alert) ?? wording.reasonWording(alert)],
    ["Regra avaliada", datasourceTrouble(labels) === null ? null : label(name, MAX.short)],
    ["Sobre", label(aboutAlert(alert), MAX.short)],
    ["Squad", squad],
    ["Severidade", label(severity, MAX.short)],
    ["Resumo", markdownPlain(singleLine(summary ?? ""), MAX.summary)],
    ["Início", start],
    ["Fim", end],
    ["Valor", markdownPlain(singleLine(valueText(alert) ?? ""), MAX.value)],
    ["Regra", markdownLink(alert.ruleUrl)],
    ["Silenciar", markdownLink(alert.silenceUrl)],
    ["Painel", markdownLink(alert.dashboardUrl)],
    ["Fingerprint", markdownPlain(singleLine(fingerprint), MAX.short)],
    ["Notificação", wording.leftOutWording(alert)],
  ];
  const known = facts.filter(([, text]) => text !== null && text !== "");
  return known.map(([title, text]) => `- **${title}:** ${text}`).join("\n");
}

/** One row for each label, sorted by name in code units; rows that do not fit are counted below. Empty without any. */
function labelTable(labels: Alert["labels"]): string {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return "";
  const rows = ["| Label | Valor |", "| --- | --- |"];
  let units = rows.join("\n").length + REST_UNITS;
  for (const [name, value] of entries) {
    const row = `| ${label(name, MAX.labelName)} | ${label(value, MAX.short)} |`;
    units += row.length + "\n".length;
    if (units > MAX.labels) break;
    rows.push(row);
  }
  const rest = entries.length - (rows.length - 2);
  if (rest > 0) rows.push("", formatCount(rest, "label não mostrado", "labels não mostrados"));
  return `\n**Labels**\n\n${rows.join("\n")}\n`;
}

function label(text: string | null, maxUnits: number): string {
  return markdownPlain(breakSchemes(singleLine(text ?? "")), maxUnits);
}
