import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { whatsappPlain } from "../../text/whatsapp-plain.ts";
import type { Alert } from "../alert/alert.ts";
import { NAMELESS } from "../alert/name.ts";
import { breakLinks } from "./break-links.ts";
import { whatsappLink } from "./links.ts";
import { textLines } from "./text-lines.ts";
import { leftOutWording, stateWording, timesWording, troubleWording } from "./wording.ts";

const MAX_UNITS = 4000;
const MAX_SEVERITY_UNITS = 60;

/** No text is shortened below this; four such texts, the links and our own words always fit together. */
const MIN_UNITS = 300;

/** The sender's texts that may be long; a null one has no line. */
type LongTexts = { description: string | null; summary: string | null; value: string | null; name: string };

/** The order in which they are shortened. */
const GIVE_WAY = ["description", "summary", "value", "name"] as const;

/**
 * The WhatsApp message of an alert.
 *
 * Shape:     what happened and to which rule, then a line for each known fact under our own label; a description of
 *            several lines is quoted line by line. At most 4,000 UTF-16 units.
 * Behaviour: the sender's texts cannot make a line, formatting or a link; only the rule and the issue are linked, whose
 *            addresses come in fields of their own. Description, summary, value and name are shortened, in this order.
 * Source:    monitoring document, Events; design of the webhook, WhatsApp text.
 */
export function renderMessage(alert: Alert, { issueUrl }: { issueUrl: string | null }): string {
  const texts: LongTexts = {
    description: alert.description === null ? null : quoted(alert.description),
    summary: alert.summary === null ? null : plain(alert.summary),
    value: alert.value === null ? null : plain(alert.value),
    name: inBold(alert.name),
  };
  let message = compose(alert, issueUrl, texts);
  for (const part of GIVE_WAY) {
    const excess = message.length - MAX_UNITS;
    const text = texts[part];
    if (excess <= 0 || text === null || text.length <= MIN_UNITS) continue;
    texts[part] = shortened(text, Math.max(MIN_UNITS, text.length - excess));
    message = compose(alert, issueUrl, texts);
  }
  return message;
}

function compose(alert: Alert, issueUrl: string | null, texts: LongTexts): string {
  const { marker, words } = stateWording(alert);
  const { start, end } = timesWording(alert, "Brasília");
  const severity = alert.severity === null ? null : truncate(plain(alert.severity), MAX_SEVERITY_UNITS);
  const facts = [
    line("Problema", troubleWording(alert)),
    line("Squad", alert.squad),
    line("Severidade", severity),
    line("Resumo", texts.summary),
    texts.description === null || texts.description === "" ? null : `Descrição:\n${texts.description}`,
    line("Início", start),
    line("Fim", end),
    line("Valor", texts.value),
    leftOutWording(alert),
    line("Regra", whatsappLink(alert.ruleUrl)),
    line("Issue", whatsappLink(issueUrl)),
  ];
  const head = `${marker} ${whatsappPlain(words)}: *${texts.name}*`;
  return [head, ...facts.filter((fact) => fact !== null)].join("\n");
}

function line(label: string, text: string | null): string | null {
  return text === null || text === "" ? null : `${label}: ${text}`;
}

function plain(text: string): string {
  return breakLinks(whatsappPlain(singleLine(text)));
}

/** Without asterisks: inside our own bold even one between two letters could end it. */
function inBold(name: string | null): string {
  return plain(name ?? "").replaceAll("*", "\u2217") || NAMELESS;
}

function quoted(text: string): string {
  return textLines(text)
    .map((part) => `> ${breakLinks(whatsappPlain(part))}`)
    .join("\n");
}

/** Without the beginning of a quoted line that a cut may leave, which would show as an empty line. */
function shortened(text: string, maxUnits: number): string {
  const cut = truncate(text, maxUnits).replace(/\n> ?…$/, "…");
  // Where not even one character fits, the ellipsis still says that there was a text.
  if (/^>?…?$/.test(cut)) return text.startsWith("> ") ? "> …" : "…";
  return cut;
}
