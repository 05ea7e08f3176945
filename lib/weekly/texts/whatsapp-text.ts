import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { whatsappPlain } from "../../text/whatsapp-plain.ts";
import type { ChannelName, Payload } from "../payload.ts";
import { CHANNEL_LABELS } from "./channel-label.ts";
import { reportLink } from "./report-link.ts";
import { reportPeriod } from "./report-period.ts";
import { scoreView } from "./score-text.ts";

const MAX_UNITS = 900;
const MAX_INSIGHTS = 2;

/** An insight that would be cut shorter than this is left out. */
const MIN_INSIGHT_UNITS = 24;

/** The channels whose insights go into the message, most wanted first. */
const INSIGHT_CHANNELS: readonly ChannelName[] = ["email", "instagram", "linkedin"];

type Line = { prefix: string; text: string };

/**
 * The weekly WhatsApp message of a report.
 *
 * Shape:  period, score line, up to two insights or else the activation actions, link; at most 900 UTF-16 units.
 *         Insights are shortened with "…", then left out; the rest is never cut.
 * Errors: null when even the fixed lines do not fit, which takes an absurdly long `appBaseUrl`.
 * Source: weekly report document, WhatsApp message contract.
 */
export function renderWhatsappText(payload: Payload, { appBaseUrl }: { appBaseUrl: string }): string | null {
  const { week, days } = reportPeriod(payload);
  const head = ["*Seu desempenho semanal*", days, "", scoreView(payload.accountScore).line];
  const tail = ["", "Veja o relatório completo:", reportLink(appBaseUrl, week)];
  const room = MAX_UNITS - [...head, ...tail].join("\n").length;
  if (room < 0) return null;
  return [...head, ...bodyLines(payload, room), ...tail].join("\n");
}

/** The lines between score and link: insights, or actions when there is no insight. */
function bodyLines(payload: Payload, room: number): string[] {
  const insights = chosenInsights(payload.channels);
  return insights.length > 0 ? insightLines(insights, room) : actionLines(payload.activationActions, room);
}

/** The first insight of each channel before the second of any; shown in the order of the channels. */
function chosenInsights(channels: Payload["channels"]): Line[] {
  const candidates = INSIGHT_CHANNELS.flatMap((channel, order) =>
    insightTexts(channels[channel]).map((text, rank) => ({ channel, order, rank, text })),
  );
  return candidates
    .toSorted((a, b) => a.rank - b.rank || a.order - b.order)
    .slice(0, MAX_INSIGHTS)
    .toSorted((a, b) => a.order - b.order || a.rank - b.rank)
    .map(({ channel, text }) => ({ prefix: `• ${CHANNEL_LABELS[channel]}: `, text }));
}

function insightTexts({ status, insights }: Payload["channels"][ChannelName]): string[] {
  if (status !== "available") return [];
  return insights.map(({ text }) => whatsappPlain(singleLine(text))).filter((text) => text !== "");
}

/** The lines that fit, shortened where needed; the last ones are left out first. */
function insightLines(lines: Line[], room: number): string[] {
  if (lines.length === 0) return [];
  const units = room - "\n".length * (lines.length + 1);
  const shares = fairShares(
    lines.map(({ prefix, text }) => prefix.length + text.length),
    units,
  );
  const shortened = lines.map(({ prefix, text }, i) => ({
    prefix,
    text: truncate(text, Math.max(0, shares[i]! - prefix.length)),
  }));
  const isReadable = shortened.every(
    ({ text }, i) => text !== "" && text.length >= Math.min(MIN_INSIGHT_UNITS, lines[i]!.text.length),
  );
  if (!isReadable) return insightLines(lines.slice(0, -1), room);
  return ["", ...shortened.map(({ prefix, text }) => prefix + text)];
}

/** Divides `units` equally; what a text does not need of its share goes to the others. */
function fairShares(needs: number[], units: number): number[] {
  const equal = Math.floor(units / needs.length);
  const unused = needs.reduce((sum, need) => sum + Math.max(0, equal - need), 0);
  return needs.map((need) => (need <= equal ? need : equal + unused));
}

/** The labels that fit, whole and as they are. */
function actionLines(actions: Payload["activationActions"], room: number): string[] {
  const lines = ["", "Para ter um relatório mais completo:"];
  for (const { label } of actions) {
    const line = `• ${whatsappPlain(singleLine(label))}`;
    if (joinedLength([...lines, line]) > room) break;
    lines.push(line);
  }
  return lines.length > 2 ? lines : [];
}

function joinedLength(lines: string[]): number {
  return lines.reduce((sum, line) => sum + "\n".length + line.length, 0);
}
