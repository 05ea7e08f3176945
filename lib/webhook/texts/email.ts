import { formatCount } from "../../text/pt-br.ts";
import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { Temporal } from "../../time/temporal.ts";
import { aboutAlert } from "../alert/about.ts";
import type { Alert } from "../alert/alert.ts";
import { NAMELESS } from "../alert/name.ts";
import { formatClockTime } from "../alert/time.ts";
import type { Escalation } from "../store/reads.ts";
import { durationText, timing } from "./duration.ts";
import { webLink } from "./links.ts";
import { labelLine } from "./message/label-line.ts";
import { breakSchemes, textLines } from "./sender-text.ts";
import { valueText } from "./value-text.ts";
import * as wording from "./wording.ts";

const MAX_SUBJECT_UNITS = 150;
const MAX_NAME_UNITS = 80;
const MAX_TEXT_UNITS = 800;
/** How many alerts are shown in full; the others get a line each, because mail clients cut long e-mails off. */
const IN_FULL = 10;

/** The most alerts of one e-mail. */
export const ALERT_EMAIL_LIMIT = 100;

/**
 * The e-mail about alerts that WhatsApp did not take, in plain text.
 *
 * Shape:     of at least one alert and at most `ALERT_EMAIL_LIMIT`; `reason` is the code for which WhatsApp takes
 *            nothing, or null; `comesLater`: WhatsApp gets the alerts once it takes messages again.
 * Behaviour: the sender's texts are indented, so that none is read as a line of ours.
 * Source:    design of the alarm, Fallback channel.
 */
export function renderAlertEmail(
  alerts: readonly Omit<Escalation, "row">[],
  { nowMs, reason, comesLater }: { nowMs: number; reason: string | null; comesLater: boolean },
): { subject: string; text: string } {
  const rest = alerts.length > 1 ? ` e mais ${formatCount(alerts.length - 1, "alerta", "alertas")}` : "";
  const subject = truncate(titleOf(alerts[0]!.alert), MAX_SUBJECT_UNITS - rest.length) + rest;
  const code = reason === null ? "" : ` (${reason})`;
  const queued = alerts.filter(({ status }) => status === "queued").map(({ acceptedAtMs }) => acceptedAtMs);
  const later = comesLater ? " Quando ele voltar, a mensagem também chega por lá." : "";
  const why =
    queued.length === 0
      ? `não se sabe se o WhatsApp entregou${code}: pode ter chegado lá também.`
      : `o WhatsApp não recebe desde ${clock(Math.min(...queued), nowMs)}${code}.${later}`;
  const blocks = alerts.slice(0, IN_FULL).map((each) => blockOf(each, nowMs));
  const lines = alerts.slice(IN_FULL).map(({ alert, status }) => {
    const doubt = status === "unknown" ? "pode ter chegado" : null;
    return wording.joined([titleOf(alert), stateOf(alert, nowMs), doubt], " · ");
  });
  const text = wording.joined([`Por e-mail porque ${why}`, ...blocks, lines.join("\n")], "\n\n");
  return { subject, text: `${text}\n` };
}

function blockOf({ alert, status, acceptedAtMs, issueUrl }: Omit<Escalation, "row">, nowMs: number): string {
  const waited = `, espera pelo WhatsApp há ${durationText(Math.max(0, nowMs - acceptedAtMs))}`;
  const whatsapp = status === "queued" ? waited : ". Pode ter chegado pelo WhatsApp";
  const value = valueText(alert);
  const { dashboardUrl: Painel, ruleUrl: Regra, silenceUrl: Silenciar } = alert;
  const links = Object.entries({ Painel, Regra, Silenciar, Issue: issueUrl });
  const lines = [
    titleOf(alert),
    stateOf(alert, nowMs),
    `Recebido ${clock(acceptedAtMs, nowMs)}${whatsapp}.`,
    ...textsOf(alert).map((text) => text && `  ${text}`),
    value && `Valor: ${short(value)}`,
    ...links.map(([word, url]) => webLink(url) && `${word}: ${webLink(url)}`),
  ];
  return wording.joined(lines, "\n");
}

function titleOf(alert: Alert): string {
  const about = breakSchemes(short(aboutAlert(alert)));
  const name = wording.joined([short(alert.name) || NAMELESS, wording.verdictWords(alert)], " ");
  return `${wording.markerOf(alert)} ${wording.joined([name, about], " · ")}`;
}

function stateOf(alert: Alert, nowMs: number): string {
  const state = alert.firing ? null : short(wording.stateWords(alert));
  const severity = wording.severityWord(alert.severity) ?? short(alert.severity);
  return wording.joined([state, severity, alert.squad, timing(alert, { isRepeat: false, nowMs })], " · ");
}

function textsOf(alert: Alert): readonly (string | null)[] {
  const summary = singleLine(alert.summary ?? "");
  const description = textLines(truncate(alert.description ?? "", MAX_TEXT_UNITS));
  const labels = labelLine(alert, (text) => breakSchemes(singleLine(text)));
  return [
    wording.troubleWording(alert),
    wording.reasonWording(alert),
    truncate(summary, MAX_TEXT_UNITS),
    ...(description.join(" ") === summary ? [] : description),
    truncate(labels, MAX_TEXT_UNITS),
    wording.leftOutWording(alert),
  ];
}

function short(text: string | null): string {
  return truncate(singleLine(text ?? ""), MAX_NAME_UNITS);
}

function clock(ms: number, nowMs: number): string {
  return formatClockTime(Temporal.Instant.fromEpochMilliseconds(ms), nowMs);
}
