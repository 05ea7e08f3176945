import type { NewIssue } from "../../../providers/issue-outcome.ts";
import { formatCount } from "../../../text/pt-br.ts";
import { singleLine } from "../../../text/single-line.ts";
import { truncate } from "../../../text/truncate.ts";
import { aboutAlert } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { alertnameOf, datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { endedUnmeasured } from "../../alert/state-reason.ts";
import { durationText, lastedMs } from "../duration.ts";
import { markdownLink } from "../links.ts";
import { breakSchemes, textLines } from "../sender-text.ts";
import { valueText } from "../value-text.ts";
import * as wording from "../wording.ts";

const MAX_UNITS = 60_000;
const MAX_TITLE_UNITS = 255;
const MAX_SUMMARY_UNITS = 4000;
/** Of any other text of the sender in the list. */
const MAX_SHORT_UNITS = 1000;
const MAX_LABELS = 40;
const MAX_LABEL_UNITS = 500;

/** What a backslash does not escape: HTML. */
const REPLACED: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The mark of a mention, which some readers look for in the finished text; inside an address it stays. */
const MENTION = /(?<![\p{L}\p{N}_])@/gu;

/** Marks anywhere; what makes an address a link; what makes a line an item of a list or a heading. */
const MEANINGFUL = /[\\`*_{}[\]#+|~^$&<>@]|=(?==)|(?<==)=|:(?=\/\/)|(?<=www)\.|^-|(?<=^\d{1,9})[.)]/gi;

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
  return wording.severityOf(severity)?.priority ?? 0;
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
  // Two lines of a quotation need an empty one between them, or they become one.
  const quoted = (text: string) => `> ${text.split("\n").map(escaped).join("\n>\n> ")}`;
  return `${top}${fitting(lines.join("\n"), MAX_UNITS - `${top}\n${labels}`.length, quoted)}\n${labels}`;
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
  return wording.joined(
    facts.map(([title, text]) => (text ? `- **${title}:** ${text}` : null)),
    "\n",
  );
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

/** One line that is shown unchanged, and cannot become markup, a link, a table's cell or HTML. */
function plain(text: string | null, maxUnits = MAX_SHORT_UNITS): string {
  return fitting(singleLine(text ?? ""), maxUnits, escaped);
}

function label(text: string | null, maxUnits = MAX_SHORT_UNITS): string {
  return fitting(breakSchemes(singleLine(text ?? "")), maxUnits, escaped);
}

function escaped(line: string): string {
  return line.replace(MENTION, "\uFF20").replace(MEANINGFUL, (mark) => REPLACED[mark] ?? `\\${mark}`);
}

/** Shortened before it is escaped, so that no escape is cut; no character becomes longer than `&amp;`. */
function fitting(text: string, maxUnits: number, render: (text: string) => string): string {
  const whole = render(truncate(text, maxUnits));
  return whole.length <= maxUnits ? whole : render(truncate(text, Math.floor(maxUnits / "&amp;".length)));
}

/**
 * The comment on the issue of an alert that has resolved, in markdown: when, and after how long.
 *
 * Shape: one line of our own words; what is not known is left out.
 */
export function renderResolvedComment(alert: Alert): string {
  const { start, end } = wording.timesWording(alert);
  const ms = lastedMs(alert);
  const reason = wording.reasonWording(alert);
  const isTrouble = datasourceTrouble(alert.labels) !== null;
  const resolved = isTrouble ? "A regra voltou a ser avaliada" : "Resolvido";
  return [
    `${wording.markerOf(alert)} ${endedUnmeasured(alert) ? "Encerrado sem medição" : resolved}`,
    end === null ? "" : ` em ${end}`,
    ms === null ? "" : `, depois de ${durationText(ms)}`,
    start === null ? "." : `. Início: ${start}.`,
    reason === null ? "" : ` ${reason}.`,
  ].join("");
}
