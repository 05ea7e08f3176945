import { formatNumber, formatPercent, joinNames } from "../../text/pt-br.ts";
import { boundedLine } from "../../text/truncate.ts";
import { CHANNELS, type Channel, type ChannelName, type Insight, type Payload } from "../payload.ts";
import { CHANNEL_LABELS } from "../texts/channel-label.ts";

const MAX_INSIGHT_UNITS = 240;

/** Of fewer opened e-mails a percentage says nothing. */
const MIN_OPENED = 20;

/** Findings about e-mails that only say a rate which the card shows in large. */
const SAYS_A_RATE = new Set(["email_opens", "email_clicks", "email_deliveries"]);

/** Findings about one channel, or about several that have the same. */
export type ReadingView = { channel: string; items: string[] };

/** What the analyses found; `more` counts what the full report has besides. */
export type ReadingsView = { groups: ReadingView[]; more: number };

type Finding = { channels: ChannelName[]; text: string };

/**
 * What the analyses found, by channel: each sentence once, and none that only repeats a card.
 *
 * Shape:     none of the sentences in `said` either; at most `maxOfChannel` of each channel.
 * Behaviour: a sentence of two channels stands under both names. Where nothing else is left, the sentences that repeat
 *            a card are shown all the same.
 */
export function readingsView(
  channels: Payload["channels"],
  said: readonly string[],
  maxOfChannel: number,
): ReadingsView {
  const keys = new Set(said.map(sentenceKey));
  const findings = findingsOf(channels, saysMoreThanCard, keys);
  const isSaid = findings.length + keys.size > 0;
  return grouped(isSaid ? findings : findingsOf(channels, () => true, keys), maxOfChannel);
}

/** One spelling of a sentence, so that two differ in a word or a number, not in case, accents or punctuation. */
export function sentenceKey(text: string): string {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.match(/\p{L}+|[−-]?\p{N}+(?:[.,]\p{N}+)*%?/gu)?.join(" ") ?? text;
}

type Filter = (channel: Channel, insight: Insight) => boolean;

function saysMoreThanCard({ metrics }: Channel, { code, metric }: Insight): boolean {
  return !(SAYS_A_RATE.has(code) && metric !== undefined && typeof metrics?.[metric] === "number");
}

function findingsOf(channels: Payload["channels"], filter: Filter, said: Set<string>): Finding[] {
  const findings = new Map<string, Finding>();
  for (const channel of CHANNELS) {
    for (const text of textsOf(channel, channels[channel], filter)) {
      const key = sentenceKey(text);
      const known = findings.get(key);
      if (known === undefined && !said.has(key)) findings.set(key, { channels: [channel], text });
      else if (known && !known.channels.includes(channel)) known.channels.push(channel);
    }
  }
  return [...findings.values()];
}

function textsOf(name: ChannelName, channel: Channel, filter: Filter): string[] {
  if (channel.status !== "available") return [];
  const stored = channel.insights.filter((insight) => filter(channel, insight));
  const own = name === "email" && stored.length < channel.insights.length ? clicksOfOpened(channel) : [];
  return [...own, ...stored.map(({ text }) => boundedLine(text, MAX_INSIGHT_UNITS))].filter(Boolean);
}

/** At most `maxOfChannel` of each first channel; those of several channels are a group of their own. */
function grouped(findings: Finding[], maxOfChannel: number): ReadingsView {
  const groups = new Map<string, string[]>();
  const shown = CHANNELS.flatMap((channel) =>
    findings.filter(({ channels }) => channels[0] === channel).slice(0, maxOfChannel),
  );
  for (const { channels, text } of shown) {
    const label = joinNames(channels.map((channel) => CHANNEL_LABELS[channel]));
    groups.set(label, [...(groups.get(label) ?? []), text]);
  }
  return {
    groups: [...groups].map(([channel, items]) => ({ channel, items })),
    more: findings.length - shown.length,
  };
}

/** How many opened e-mails led to a click, which no card says. */
function clicksOfOpened({ metrics }: Channel): string[] {
  const reached = metrics?.reached;
  if (typeof reached !== "object" || reached === null) return [];
  const { opened, clicked } = reached;
  if (opened === null || opened < MIN_OPENED || clicked === null || clicked === 0) return [];
  const share = formatPercent(clicked / opened);
  const verb = clicked === 1 ? "teve" : "tiveram";
  return [`Dos ${formatNumber(opened)} e-mails abertos, ${formatNumber(clicked)} ${verb} clique: ${share}`];
}
