import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { whatsappPlain } from "../../text/whatsapp-plain.ts";
import type { Alert } from "../alert/alert.ts";
import { NAMELESS } from "../alert/name.ts";
import { formatAlertTime } from "../alert/time.ts";
import { breakLinks } from "./break-links.ts";
import { textLines } from "./text-lines.ts";
import { webLink } from "./web-link.ts";
import { whatsappLink } from "./links.ts";
import { leftOutWording, stateWording, troubleWording } from "./wording.ts";

const MAX_UNITS = 4000;
const MAX_SEVERITY_UNITS = 60;

/** Encoding its formatting marks makes a link up to three times as long. */
const MAX_LINK_UNITS = 1000;

/** What a text is never shortened below; four of these, the links and our own words always fit together. */
const MIN_UNITS = 300;

/** The sender's texts that may be long, the first to give way first; null is shown by no line. */
type LongTexts = { description: string | null; summary: string | null; value: string | null; name: string };

const GIVE_WAY = ["description", "summary", "value", "name"] as const;

/**
 * The WhatsApp message of an alert.
 *
 * Shape:  what happened and to which rule, then one line for each thing that is known, each under our own label; a
 *         description of several lines is quoted line by line. Nothing of the sender's texts makes a line, formatting
 *         or a link; the rule and the issue are linked, whose addresses stand in fields of their own.
 *         At most 4,000 UTF-16 units: description, summary, value and name are shortened, in this order.
 * Source: monitoring document, Events; design of the webhook, WhatsApp text.
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
  const severity = alert.severity === null ? null : truncate(plain(alert.severity), MAX_SEVERITY_UNITS);
  const facts = [
    line("Problema", troubleWording(alert)),
    line("Squad", alert.squad),
    line("Severidade", severity),
    line("Resumo", texts.summary),
    texts.description === null || texts.description === "" ? null : `Descrição:\n${texts.description}`,
    line("Início", brazilTime(alert.startsAt)),
    line("Fim", alert.status === "resolved" ? brazilTime(alert.endsAt) : null),
    line("Valor", texts.value),
    leftOutWording(alert),
    line("Regra", link(alert.ruleUrl)),
    line("Issue", link(issueUrl)),
  ];
  const head = `${marker} ${whatsappPlain(words)}: *${texts.name}*`;
  return [head, ...facts.filter((fact) => fact !== null)].join("\n");
}

function line(label: string, text: string | null): string | null {
  return text === null || text === "" ? null : `${label}: ${text}`;
}

function brazilTime(instant: string | null): string | null {
  const time = formatAlertTime(instant);
  return time === null ? null : `${time} (Brasília)`;
}

function link(url: string | null): string | null {
  const href = webLink(url);
  const shown = href === null ? null : whatsappLink(href);
  return shown !== null && shown.length <= MAX_LINK_UNITS ? shown : null;
}

function plain(text: string): string {
  return breakLinks(whatsappPlain(singleLine(text)));
}

/** Inside our own bold even an asterisk between two letters could end it. */
function inBold(name: string | null): string {
  return plain(name ?? "").replaceAll("*", "\u2217") || NAMELESS;
}

function quoted(text: string): string {
  return textLines(text)
    .map((part) => `> ${breakLinks(whatsappPlain(part))}`)
    .join("\n");
}

/** A cut may leave the beginning of a quotation's next line, which would show as an empty one. */
function shortened(text: string, maxUnits: number): string {
  const cut = truncate(text, maxUnits).replace(/\n> ?…$/, "…");
  // Where not even one character fits, that there was a text is still said, and in its place.
  if (/^>?…?$/.test(cut)) return text.startsWith("> ") ? "> …" : "…";
  return cut;
}
