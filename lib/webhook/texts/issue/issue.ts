import type { NewIssue } from "../../../providers/issue-outcome.ts";
import { formatCount } from "../../../text/pt-br.ts";
import { singleLine } from "../../../text/single-line.ts";
import { truncate } from "../../../text/truncate.ts";
import { aboutAlert } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { alertnameOf, datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { markdownLink } from "../links.ts";
import { breakSchemes, textLines } from "../sender-text.ts";
import { valueText } from "../value-text.ts";
import * as wording from "../wording.ts";
import { markdownPlain, markdownQuote } from "./markdown-plain.ts";

const MAX_UNITS = 60_000;
const MAX_TITLE_UNITS = 255;
const MAX_SUMMARY_UNITS = 4000;
/** Of any other text of the sender in the list. */
const MAX_SHORT_UNITS = 1000;
const MAX_LABELS = 40;
const MAX_LABEL_UNITS = 500;

/** From the tracker's priority 1 on. */
const PRIORITIES = ["critical", "high", "warning"];

/**
 * The title of an alert's issue: `[ALERTA][infra] Traefik RAM Alta`.
 *
 * Shape:  one line of at most 255 UTF-16 units, the name unescaped.
 * Source: monitoring document, Endpoints, Behaviour 5.
 */
export function issueTitle({ squad, labels }: Pick<Alert, "squad" | "labels">): string {
  return truncate(`[ALERTA][${squad}] ${alertnameOf(labels) ?? NAMELESS}`, MAX_TITLE_UNITS);
}

/** The priority of an alert's issue; 0 for a severity that is unknown or missing. */
export function issuePriority(severity: string | null): NewIssue["priority"] {
  return (PRIORITIES.indexOf(severity?.trim().toLowerCase() ?? "") + 1) as NewIssue["priority"];
}

/**
 * The description of an alert's issue, in markdown.
 *
 * Shape:     a list of the known facts, the description as a quotation, the first 40 labels as a table sorted by name;
 *            at most 60,000 UTF-16 units, for which the description is shortened.
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
  const top = `${facts}\n\n**${words}**\n\n`;
  return `${top}${markdownQuote(lines, MAX_UNITS - `${top}\n${labels}`.length)}\n${labels}`;
}

function factList(alert: Alert): string {
  const { name, squad, severity, summary, fingerprint, labels } = alert;
  const words = wording.verdictWords(alert) || wording.stateWords(alert);
  const { start, end } = wording.timesWording(alert);
  const facts = [
    ["Estado", `${wording.markerOf(alert)} ${plain(words)}`],
    ["Problema", wording.troubleWording(alert) ?? wording.reasonWording(alert)],
    ["Regra avaliada", datasourceTrouble(labels) === null ? null : label(name)],
    ["Sobre", label(aboutAlert(alert))],
    ["Squad", squad],
    ["Severidade", label(severity)],
    ["Resumo", plain(summary, MAX_SUMMARY_UNITS)],
    ["Início", start],
    ["Fim", end],
    ["Valor", plain(valueText(alert))],
    ["Regra", markdownLink(alert.ruleUrl)],
    ["Silenciar", markdownLink(alert.silenceUrl)],
    ["Painel", markdownLink(alert.dashboardUrl)],
    ["Fingerprint", plain(fingerprint)],
    ["Notificação", wording.leftOutWording(alert)],
  ];
  const known = facts.filter(([, text]) => text !== null && text !== "");
  return known.map(([title, text]) => `- **${title}:** ${text}`).join("\n");
}

/** Empty without any label. */
function labelTable(labels: Alert["labels"]): string {
  const entries = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return "";
  const cells = entries.slice(0, MAX_LABELS).map((pair) => pair.map((text) => label(text, MAX_LABEL_UNITS)));
  const rows = cells.map(([name, value]) => `| ${name} | ${value} |`);
  const rest = entries.length - rows.length;
  if (rest > 0) rows.push("", formatCount(rest, "label não mostrado", "labels não mostrados"));
  return ["\n**Labels**\n", "| Label | Valor |", "| --- | --- |", ...rows, ""].join("\n");
}

function plain(text: string | null, maxUnits = MAX_SHORT_UNITS): string {
  return markdownPlain(singleLine(text ?? ""), maxUnits);
}

function label(text: string | null, maxUnits = MAX_SHORT_UNITS): string {
  return plain(breakSchemes(text ?? ""), maxUnits);
}
