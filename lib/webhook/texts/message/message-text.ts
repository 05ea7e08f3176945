import { singleLine } from "../../../text/single-line.ts";
import { truncate } from "../../../text/truncate.ts";
import { whatsappPlain } from "../../../text/whatsapp-plain.ts";
import { aboutAlert } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { NAMELESS } from "../../alert/name.ts";
import type { RecoveryNote } from "../../store/types.ts";
import { whatsappLink } from "../links.ts";
import { textLines } from "../text-lines.ts";
import { lateness, timing } from "../timing.ts";
import { valueText } from "../value-text.ts";
import {
  leftOutWording,
  markerOf,
  reasonWording,
  recoveryWording,
  severityWord,
  stateWords,
  troubleWording,
  verdictWords,
} from "../wording.ts";
import { labelLine, labelMark, MAX_SEVERITY_UNITS, showsLabels } from "./label-line.ts";
import { whatsappBold, whatsappLabel, whatsappLine } from "./whatsapp-line.ts";

const MAX_UNITS = 4000;
const MAX_ABOUT_UNITS = 80;

/** No text is shortened below this; all of them and our own words fit together when there are no links. */
const MIN_UNITS = 300;

/** What a message says besides its alert. */
export type MessageContext = {
  issueUrl: string | null;
  /** The platform tells again what it told before. */
  isRepeat: boolean;
  nowMs: number;
  /** For how long the alert waited to be sent. */
  waitedMs: number;
  note: RecoveryNote;
};

/** The sender's texts that may be long; a null one has no line. */
type LongTexts = {
  description: string | null;
  summary: string | null;
  labels: string | null;
  value: string | null;
  name: string;
  /** Never shortened further. */
  about: string;
};

/** A message that is being made; `isWhole` while none of its texts was shortened. */
type Draft = { texts: LongTexts; links: readonly string[]; mark: string; isWhole: boolean };

/** The order in which they are shortened. */
const GIVE_WAY = ["description", "summary", "labels", "value", "name"] as const;

/** A line of a sender that would be taken for one of ours, or for one that formats. */
const LIKE_OURS =
  /^(?:[>#+\u2022]|[-\u2217] |\d+[.)]|(?:Valor|Painel|Regra|Silenciar|Issue): |Enquanto o WhatsApp |A (?:consulta|avaliação|série) da regra |A regra foi |[\u26AA\u26A0\u2705\u{1F534}\u{1F535}\u{1F7E0}\u{1F7E1}])/u;

/**
 * The WhatsApp message of an alert.
 *
 * Shape:     what it is and where; how bad, for whom and since when; the sender's summary and description; its labels,
 *            value and links under our own words; the description is quoted line by line. At most 4,000 UTF-16 units.
 * Behaviour: the sender's texts cannot make a line of ours, formatting or a link; only dashboard (or rule), silence and
 *            issue are linked, whose addresses come in fields of their own. Description, summary, labels, value and
 *            name are shortened, in this order, and then links left out. Messages of different labels are different:
 *            where the shown labels do not ensure that, a mark made of all of them ends the message.
 * Source:    monitoring document, Events; design of the alarm, A message that a person can act on.
 */
export function renderMessage(alert: Alert, context: MessageContext): string {
  const mark = labelMark(alert);
  const draft: Draft = { texts: textsOf(alert), links: linksOf(alert, context), mark, isWhole: true };
  let message = compose(alert, context, draft);
  for (const part of GIVE_WAY) {
    const excess = message.length - MAX_UNITS;
    const text = draft.texts[part];
    if (excess <= 0 || text === null || text.length <= MIN_UNITS) continue;
    // The mark comes with the first text that is shortened.
    const units = text.length - excess - (draft.isWhole ? `\n${mark}`.length : 0);
    draft.texts[part] = shortened(text, Math.max(MIN_UNITS, units));
    draft.isWhole = false;
    message = compose(alert, context, draft);
  }
  while (message.length > MAX_UNITS) {
    draft.links = draft.links.slice(1);
    message = compose(alert, context, draft);
  }
  return message;
}

function textsOf(alert: Alert): LongTexts {
  const value = valueText(alert);
  return {
    description: descriptionOf(alert),
    summary: alert.summary === null ? null : whatsappLine(alert.summary),
    labels: labelLine(alert, MAX_UNITS),
    value: value === null ? null : whatsappLine(value),
    name: whatsappBold(alert.name ?? "") || NAMELESS,
    about: truncate(whatsappLabel(aboutAlert(alert)), MAX_ABOUT_UNITS),
  };
}

/** Nothing that only repeats the summary. */
function descriptionOf({ description, summary }: Alert): string | null {
  if (description === null || (summary !== null && singleLine(description) === singleLine(summary)))
    return null;
  return quoted(description);
}

function compose(alert: Alert, context: MessageContext, draft: Draft): string {
  const { texts, links, mark, isWhole } = draft;
  const { summary, description, labels, value } = texts;
  const labelText = fromSender(labels);
  const isClear = isWhole && labelText === labels && showsLabels(alert, links);
  return [
    headLine(alert, texts),
    fromSender(stateLine(alert, context)),
    troubleWording(alert),
    reasonWording(alert),
    // With "=" it would look like labels.
    summary?.includes("=") ? `> ${summary}` : fromSender(summary),
    description,
    labelText,
    value === null || value === "" ? null : `Valor: ${value}`,
    leftOutWording(alert),
    ...links,
    recoveryWording(context.note),
    isClear ? null : mark,
  ]
    .filter((line) => line !== null && line !== "")
    .join("\n");
}

function headLine(alert: Alert, { name, about }: LongTexts): string {
  const verdict = verdictWords(alert);
  const head = `${markerOf(alert)} *${name}*${verdict === "" ? "" : ` ${verdict}`}`;
  return about === "" ? head : `${head} · ${about}`;
}

function stateLine(alert: Alert, { isRepeat, nowMs, waitedMs }: MessageContext): string {
  const state = alert.firing ? null : whatsappPlain(capitalized(stateWords(alert)));
  const parts = [
    state,
    severityText(alert.severity),
    alert.squad,
    timing(alert, { isRepeat, nowMs }),
    lateness(waitedMs),
  ];
  return parts.filter((part) => part !== null && part !== "").join(" · ");
}

function severityText(severity: string | null): string | null {
  if (severity === null) return null;
  return severityWord(severity) ?? truncate(whatsappLabel(severity), MAX_SEVERITY_UNITS);
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
function fromSender(line: string | null): string | null {
  return line !== null && LIKE_OURS.test(line) ? `> ${line}` : line;
}

function quoted(text: string): string {
  return textLines(text)
    .map((line) => `> ${whatsappLine(line)}`)
    .join("\n");
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Without the beginning of a quoted line that a cut may leave, which would show as an empty line. */
function shortened(text: string, maxUnits: number): string {
  const cut = truncate(text, maxUnits).replace(/\n> ?…$/, "…");
  // Where not even one character fits, the ellipsis still says that there was a text.
  if (/^>?…?$/.test(cut)) return text.startsWith("> ") ? "> …" : "…";
  return cut;
}
