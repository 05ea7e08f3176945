import { singleLine } from "../../text/single-line.ts";
import { truncate } from "../../text/truncate.ts";
import { CHANNELS, type ChannelName, type Payload } from "../payload.ts";
import { CHANNEL_LABELS } from "../texts/channel-label.ts";
import { coverageText } from "../texts/coverage-text.ts";
import { appLink, reportLink } from "../texts/report-link.ts";
import { reportPeriod } from "../texts/report-period.ts";
import { type ScoreView, scoreView } from "../texts/score-text.ts";
import { type CardView, cardView } from "./card.ts";

// Gmail clips a message at 102 KB: lists and texts are bounded so that the largest report stays below.
const MAX_INSIGHTS_PER_CHANNEL = 5;
const MAX_INSIGHT_UNITS = 240;
const MAX_STEPS = 5;
const MAX_STEP_UNITS = 140;

/** The insights of one channel. */
export type ReadingView = { channel: string; items: string[]; more: number };

/** A step for the owner; `href` is null where its path could lead out of the application. */
export type StepView = { label: string; href: string | null };

/** All texts of the weekly e-mail, worded and bounded; the HTML and the plain part only lay them out. */
export type EmailView = {
  subject: string;
  preheader: string;
  days: string;
  link: string;
  score: ScoreView;
  readings: ReadingView[];
  coverage: string;
  cards: CardView[];
  steps: StepView[];
};

/**
 * All texts of the weekly e-mail of a report.
 *
 * Shape: single, bounded lines, neutralised but not escaped. The order of lists does not depend on the order of the
 *        payload's keys.
 */
export function emailView(payload: Payload, appBaseUrl: string): EmailView {
  const { week, days } = reportPeriod(payload);
  const score = scoreView(payload.accountScore);
  return {
    subject: `Seu desempenho semanal — ${days}`,
    preheader: [score.line, score.change].filter((part) => part !== null).join(". "),
    days,
    link: reportLink(appBaseUrl, week),
    score,
    readings: CHANNELS.flatMap((channel) => readingView(channel, payload.channels)),
    coverage: coverageText(payload.channels),
    cards: CHANNELS.map((channel) => cardView(channel, payload.channels[channel])),
    steps: payload.activationActions.slice(0, MAX_STEPS).map(({ label, path }) => ({
      label: truncate(singleLine(label), MAX_STEP_UNITS),
      href: appLink(appBaseUrl, path),
    })),
  };
}

function readingView(channel: ChannelName, channels: Payload["channels"]): ReadingView[] {
  const { status, insights } = channels[channel];
  if (status !== "available") return [];
  const texts = insights.map(({ text }) => truncate(singleLine(text), MAX_INSIGHT_UNITS)).filter(Boolean);
  if (texts.length === 0) return [];
  const items = texts.slice(0, MAX_INSIGHTS_PER_CHANNEL);
  return [{ channel: CHANNEL_LABELS[channel], items, more: texts.length - items.length }];
}
