import { formatCount } from "../../../text/pt-br.ts";
import { singleLine } from "../../../text/single-line.ts";
import { truncate } from "../../../text/truncate.ts";
import { Temporal } from "../../../time/temporal.ts";
import { aboutAlert } from "../../alert/about.ts";
import type { Alert } from "../../alert/alert.ts";
import { datasourceTrouble, NAMELESS } from "../../alert/name.ts";
import { formatClockTime } from "../../alert/time.ts";
import type { UnheardAlert } from "../../state/contract.ts";
import { breakLinks } from "../break-links.ts";
import { durationText } from "../duration.ts";
import { webLink } from "../links.ts";
import { textLines } from "../text-lines.ts";
import { timing } from "../timing.ts";
import { valueText } from "../value-text.ts";
import {
  leftOutWording,
  markerOf,
  reasonWording,
  severityWord,
  stateWords,
  troubleWording,
  verdictWords,
} from "../wording.ts";
import { type AlertEmailView, type AlertView, alertEmailHtml } from "./alert-email-html.ts";

const MAX_SUBJECT_UNITS = 150;
const MAX_NAME_UNITS = 80;
const MAX_TEXT_UNITS = 800;
const MAX_LABEL_UNITS = 600;

/** How many alerts are told in full; the others get a line each, because mail clients cut long e-mails off. */
const IN_FULL = 10;

/** The most alerts that an e-mail tells. */
export const ALERT_EMAIL_LIMIT = 100;

/** An alert that WhatsApp did not take. */
export type EmailedAlert = Omit<UnheardAlert, "row">;

/** `comesLater`: WhatsApp will get them, too, as soon as it takes messages again. */
type Context = { nowMs: number; reason: string | null; comesLater: boolean };

/**
 * The e-mail about alerts that WhatsApp could not take: a subject, an HTML part and a plain part of the same content.
 *
 * Shape:     of at least one alert and at most `ALERT_EMAIL_LIMIT`; `reason` is the code of what stands against
 *            WhatsApp, or null when it is not known.
 * Behaviour: the sender's texts are escaped and cannot make a link. Says of each alert since when WhatsApp does not
 *            take it, or that it may have arrived. The first ten alerts have their texts and links, the others a line
 *            each.
 * Source:    design of the alarm, Second channel.
 */
export function renderAlertEmail(
  alerts: readonly EmailedAlert[],
  context: Context,
): { subject: string; html: string; text: string } {
  const view = emailView(alerts, context);
  return { subject: view.subject, html: alertEmailHtml(view).toString(), text: plainPart(view) };
}

function emailView(alerts: readonly EmailedAlert[], context: Context): AlertEmailView {
  return {
    subject: subjectOf(alerts),
    why: whyText(alerts, context),
    alerts: alerts.slice(0, IN_FULL).map((each) => alertView(each, context)),
    lines: alerts.slice(IN_FULL).map((each) => alertLine(each, context)),
  };
}

function subjectOf(alerts: readonly EmailedAlert[]): string {
  const { alert } = alerts[0]!;
  const rest = alerts.length > 1 ? ` e mais ${formatCount(alerts.length - 1, "alerta", "alertas")}` : "";
  const name = `${markerOf(alert)} ${titleOf(alert)}`;
  return truncate(name, MAX_SUBJECT_UNITS - rest.length) + rest;
}

function whyText(alerts: readonly EmailedAlert[], { nowMs, reason, comesLater }: Context): string {
  const queued = alerts.filter(({ status }) => status === "queued");
  const code = reason === null ? "" : ` (${plain(reason)})`;
  if (alerts.every(({ status }) => status === "unacknowledged"))
    return `Por e-mail porque o gateway aceitou as últimas mensagens e o WhatsApp não confirmou nenhuma: podem não ter chegado.`;
  if (queued.length === 0)
    return `Por e-mail porque não se sabe se o WhatsApp entregou${code}: pode ter chegado lá também.`;
  const since = Math.min(...queued.map(({ acceptedAtMs }) => acceptedAtMs));
  const later = comesLater ? " Quando ele voltar, a mensagem também chega por lá." : "";
  return `Por e-mail porque o WhatsApp não recebe desde ${clock(since, nowMs)}${code}.${later}`;
}

function alertView({ alert, status, acceptedAtMs, issueUrl }: EmailedAlert, { nowMs }: Context): AlertView {
  const value = valueText(alert);
  return {
    marker: markerOf(alert),
    title: titleOf(alert),
    state: stateOf(alert, nowMs),
    delivery: deliveryText({ status, acceptedAtMs }, nowMs),
    texts: textsOf(alert),
    // What is kept of a delivered alert is in its title.
    labels: status === "unacknowledged" ? null : labelsOf(alert),
    value: value === null ? null : plain(value),
    links: linksOf(alert, issueUrl),
  };
}

const DOUBTS: Readonly<Record<EmailedAlert["status"], string>> = {
  queued: "",
  in_doubt: " · pode ter chegado",
  unacknowledged: " · pode não ter chegado",
};

function alertLine({ alert, status }: EmailedAlert, { nowMs }: Context): string {
  return `${markerOf(alert)} ${titleOf(alert)} · ${stateOf(alert, nowMs)}${DOUBTS[status]}`;
}

function titleOf(alert: Alert): string {
  const name = truncate(plain(alert.name ?? "") || NAMELESS, MAX_NAME_UNITS) || "…";
  const verdict = verdictWords(alert);
  const about = truncate(plain(aboutAlert(alert)), MAX_NAME_UNITS);
  return [verdict === "" ? name : `${name} ${verdict}`, about].filter((part) => part !== "").join(" · ");
}

function stateOf(alert: Alert, nowMs: number): string {
  const severity = alert.severity === null ? null : truncate(plain(alert.severity), MAX_NAME_UNITS);
  const parts = [
    alert.firing ? null : plain(stateWords(alert)),
    severityWord(alert.severity) ?? severity,
    alert.squad,
    timing(alert, { isRepeat: false, nowMs }),
  ];
  return parts.filter((part) => part !== null && part !== "").join(" · ");
}

function deliveryText(
  { status, acceptedAtMs }: Pick<EmailedAlert, "status" | "acceptedAtMs">,
  nowMs: number,
) {
  const accepted = clock(acceptedAtMs, nowMs);
  if (status === "in_doubt")
    return `Recebido ${accepted}. Pode ter chegado pelo WhatsApp: não houve confirmação`;
  if (status === "unacknowledged")
    return `Recebido ${accepted}. O gateway aceitou, o WhatsApp não confirmou: pode não ter chegado`;
  return `Recebido ${accepted}, espera pelo WhatsApp há ${durationText(Math.max(0, nowMs - acceptedAtMs))}`;
}

function textsOf(alert: Alert): string[] {
  const isTrouble = datasourceTrouble(alert.labels) !== null;
  const description = textLines(truncate(alert.description ?? "", MAX_TEXT_UNITS)).map(plain);
  const summary = isTrouble ? null : truncate(plain(alert.summary ?? ""), MAX_TEXT_UNITS);
  const texts = [troubleWording(alert), reasonWording(alert), summary, ...description, leftOutWording(alert)];
  return texts.filter((text) => text !== null && text !== "") as string[];
}

function labelsOf({ labels }: Alert): string | null {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = pairs.map(([name, value]) => plain(`${name}=${value}`)).join(" · ");
  return text === "" ? null : truncate(text, MAX_LABEL_UNITS);
}

function linksOf({ dashboardUrl, ruleUrl, silenceUrl }: Alert, issueUrl: string | null): AlertView["links"] {
  const links = [
    ["Painel", webLink(dashboardUrl)],
    ["Regra", webLink(ruleUrl)],
    ["Silenciar", webLink(silenceUrl)],
    ["Issue", webLink(issueUrl)],
  ] as const;
  return links.flatMap(([word, href]) => (href === null ? [] : [{ word, href }]));
}

function plainPart({ why, alerts, lines }: AlertEmailView): string {
  const blocks = [why, ...alerts.map(plainAlert), lines.join("\n")];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

function plainAlert({ marker, title, state, delivery, texts, labels, value, links }: AlertView): string {
  return [
    `${marker} ${title}`,
    state,
    `${delivery}.`,
    // Indented, so that a sender's line is never taken for one of ours.
    ...texts.map((text) => `  ${text}`),
    labels === null ? null : `  ${labels}`,
    value === null ? null : `Valor: ${value}`,
    ...links.map(({ word, href }) => `${word}: ${href}`),
  ]
    .filter((line) => line !== null)
    .join("\n");
}

function clock(ms: number, nowMs: number): string {
  return formatClockTime(Temporal.Instant.fromEpochMilliseconds(ms), nowMs);
}

function plain(text: string): string {
  return breakLinks(singleLine(text));
}
