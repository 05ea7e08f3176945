import { singleLine } from "../../../text/single-line.ts";
import { truncate } from "../../../text/truncate.ts";
import { whatsappPlain } from "../../../text/whatsapp-plain.ts";
import { aboutAlert } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import type { RecoveryNote } from "../../store/model.ts";
import { lateness, timing } from "../duration.ts";
import { whatsappLink } from "../links.ts";
import { textLines, whatsappLabel, whatsappLine, whatsappName } from "../sender-text.ts";
import { valueText } from "../value-text.ts";
import * as wording from "../wording.ts";
import { labelLine, labelMark, shownSeverity, showsLabels } from "./label-line.ts";

const MAX_UNITS = 4000;
const MAX_ABOUT_UNITS = 80;

/** No text is shortened below this; all of them and our own words fit together when there are no links. */
const MIN_UNITS = 300;

/** What a message says besides its alert. */
export type MessageContext = {
  issueUrl: string | null;
  /** The platform sends the alert again. */
  isRepeat: boolean;
  nowMs: number;
  /** For how long the alert waited to be sent. */
  waitedMs: number;
  note: RecoveryNote;
};

/** The sender's texts that may be long, in the order in which they are shortened. */
const GIVE_WAY = ["description", "summary", "labels", "value", "name"] as const;

/** A line of a sender that would be taken for one of ours, or for one that formats. */
const LIKE_OURS =
  /^(?:[>#+\u2022]|[-\u2217] |\d+[.)]|(?:Valor|Painel|Regra|Silenciar|Issue): |Enquanto o WhatsApp |A (?:consulta|avaliação|série) da regra |A regra foi |[\u26AA\u26A0\u2705\u{1F534}\u{1F535}\u{1F7E0}\u{1F7E1}])/u;

/**
 * The WhatsApp message of an alert.
 *
 * Shape:     what it is and where; severity, squad and since when; the sender's summary and description; its labels,
 *            value and links under our own words; the description is quoted line by line. At most 4,000 UTF-16 units.
 * Behaviour: the sender's texts cannot make a line of ours or formatting, and labels no link. Description, summary,
 *            labels, value and name are shortened, in this order, and then links left out. Messages of different labels
 *            are different: where the shown labels do not ensure that, a mark made of all of them ends the message.
 * Source:    monitoring document, Events; design of the alarm, A message that a person can act on.
 */
export function renderMessage(alert: Alert, context: MessageContext): string {
  const texts = textsOf(alert);
  const links = linksOf(alert, context);
  const compose = (mark: string) => {
    const lines = [...linesOf(alert, texts, context), ...links, wording.recoveryWording(context.note), mark];
    return wording.joined(lines, "\n");
  };
  const whole = compose("");
  const isClear = !LIKE_OURS.test(texts.labels) && showsLabels(alert, links);
  if (isClear && whole.length <= MAX_UNITS) return whole;
  const mark = labelMark(alert);
  for (const part of GIVE_WAY) {
    const excess = compose(mark).length - MAX_UNITS;
    if (excess <= 0 || texts[part].length <= MIN_UNITS) continue;
    texts[part] = shortened(texts[part], Math.max(MIN_UNITS, texts[part].length - excess));
  }
  while (compose(mark).length > MAX_UNITS) links.shift();
  return compose(mark);
}

/** The sender's texts; an empty one has no line. */
function textsOf(alert: Alert) {
  const [summary, description] = [alert.summary ?? "", alert.description ?? ""];
  const isSaidAgain = singleLine(description) === singleLine(summary);
  const quoted = textLines(isSaidAgain ? "" : description).map((line) => `> ${whatsappLine(line)}`);
  return {
    description: quoted.join("\n"),
    summary: whatsappLine(summary),
    labels: labelLine(alert),
    value: whatsappLine(valueText(alert) ?? ""),
    name: whatsappName(alert.name),
  };
}

/** The lines above the links. */
function linesOf(alert: Alert, texts: ReturnType<typeof textsOf>, context: MessageContext) {
  const { name, summary, description, labels, value } = texts;
  const title = wording.joined([`${wording.markerOf(alert)} *${name}*`, wording.verdictWords(alert)], " ");
  return [
    wording.joined([title, truncate(whatsappLabel(aboutAlert(alert)), MAX_ABOUT_UNITS)], " · "),
    fromSender(stateLine(alert, context)),
    wording.troubleWording(alert),
    wording.reasonWording(alert),
    // With "=" it would look like labels.
    summary.includes("=") ? `> ${summary}` : fromSender(summary),
    description,
    fromSender(labels),
    value && `Valor: ${value}`,
    wording.leftOutWording(alert),
  ];
}

function stateLine(alert: Alert, { isRepeat, nowMs, waitedMs }: MessageContext): string {
  const state = whatsappPlain(wording.stateWords(alert));
  const parts = [
    alert.firing ? null : state.charAt(0).toUpperCase() + state.slice(1),
    shownSeverity(alert.severity),
    alert.squad,
    timing(alert, { isRepeat, nowMs }),
    lateness(waitedMs),
  ];
  return wording.joined(parts, " · ");
}

function linksOf({ dashboardUrl, ruleUrl, silenceUrl }: Alert, { issueUrl }: MessageContext): string[] {
  const dashboard = whatsappLink(dashboardUrl);
  const links = [
    dashboard === null ? ["Regra", whatsappLink(ruleUrl)] : ["Painel", dashboard],
    ["Silenciar", whatsappLink(silenceUrl)],
    ["Issue", whatsappLink(issueUrl)],
  ];
  return links.filter(([, link]) => link !== null).map(([word, link]) => `${word}: ${link}`);
}

/** A line that cannot be taken for one of ours. */
function fromSender(line: string): string {
  return LIKE_OURS.test(line) ? `> ${line}` : line;
}

/** Without the beginning of a quoted line that a cut may leave; the ellipsis always says that there was a text. */
function shortened(text: string, maxUnits: number): string {
  return truncate(text, maxUnits).replace(/(^|\n)> ?…$/, "…") || "…";
}
