import { boundedLine } from "../../text/truncate.ts";
import { CHANNELS, type ChannelName, type Payload } from "../payload.ts";
import { coverageText } from "../texts/coverage-text.ts";
import { appLink, reportLink } from "../texts/report-link.ts";
import { reportPeriod } from "../texts/report-period.ts";
import { type ScoreView, scoreView } from "../texts/score-text.ts";
import { type CardView, cardView } from "./card.ts";
import { type FigureView, figuresOf } from "./figures/figures.ts";
import { type Highlight, largestChanges } from "./figures/largest-changes.ts";
import { nextStepText } from "./next-step.ts";
import { type ReadingsView, readingsView } from "./readings.ts";
import { type ScoreWeeksView, scoreWeeksView } from "./score-weeks.ts";
import { CHANGE_NOTE, FIRST_COMPARISON_TEXT, senderNote, weekNote } from "./wording.ts";

const MAX_NAME_UNITS = 60;
const MAX_STEPS = 5;
const MAX_STEP_UNITS = 140;

/** How much of its report an e-mail shows: figures below the large ones of a card, and findings of a channel. */
export type Detail = { figures: number; readings: number };

/** What an e-mail shows of any but the largest reports. */
export const FULL_DETAIL: Detail = { figures: 11, readings: 4 };

/** What enters an e-mail besides its report; without `unsubscribe` nothing in it tells how to stop the e-mails. */
export type EmailOptions = { appBaseUrl: string; unsubscribe?: string | null };

/** A step for the owner; `href` is null where its path could lead out of the application. */
export type StepView = { label: string; href: string | null };

/** All texts of the weekly e-mail, worded and bounded; the HTML and the plain part only lay them out. */
export type EmailView = {
  subject: string;
  preheader: string;
  name: string | null;
  days: string;
  link: string;
  score: ScoreView;
  scoreWeeks: ScoreWeeksView | null;
  nextStep: string | null;
  highlights: Highlight[];
  readings: ReadingsView;
  comparison: string | null;
  cards: CardView[];
  coverage: string;
  steps: StepView[];
  notes: string[];
  unsubscribe: string | null;
};

/**
 * All texts of the weekly e-mail of a report.
 *
 * Shape: single, bounded lines, neutralised but not escaped. The order of lists does not depend on the order of the
 *        payload's keys.
 */
export function emailView(
  payload: Payload,
  { appBaseUrl, unsubscribe = null }: EmailOptions,
  detail: Detail = FULL_DETAIL,
): EmailView {
  const { week, days } = reportPeriod(payload);
  const { channels, provenance } = payload;
  const score = scoreView(payload.accountScore);
  const name = boundedLine(provenance.tenantName ?? "", MAX_NAME_UNITS) || null;
  const isFirst = provenance.previousReportId === null;
  const partialBefore = new Set(provenance.previousPartialChannels);
  const figures = figuresOfAll(channels, partialBefore);
  const cards = CHANNELS.map((channel) => {
    const shown = { isFirst, wasPartial: partialBefore.has(channel), maxSmall: detail.figures };
    return cardView(channel, channels[channel], figures[channel], shown);
  });
  const highlights = largestChanges(figures);
  return {
    subject: `Seu desempenho semanal — ${days}`,
    preheader: preheaderOf(name, score),
    name,
    days,
    link: reportLink(appBaseUrl, week),
    score,
    scoreWeeks: scoreWeeksView(provenance.scoreHistory, score.previous),
    nextStep: nextStepText(payload.activationActions),
    highlights,
    readings: readingsView(
      channels,
      highlights.map(({ text }) => text),
      detail.readings,
    ),
    comparison: isFirst && cards.some(({ main }) => main.length > 0) ? FIRST_COMPARISON_TEXT : null,
    cards,
    coverage: coverageText(channels),
    steps: stepsOf(payload, appBaseUrl),
    notes: notesOf(cards, days, senderNote(new URL(appBaseUrl).host, name)),
    unsubscribe,
  };
}

function figuresOfAll(
  channels: Payload["channels"],
  partialBefore: ReadonlySet<ChannelName>,
): Record<ChannelName, FigureView[]> {
  const entries = CHANNELS.map(
    (channel) => [channel, figuresOf(channel, channels[channel], partialBefore.has(channel))] as const,
  );
  return Object.fromEntries(entries) as Record<ChannelName, FigureView[]>;
}

/** What an inbox has room for, first: the score before a long name, a name before the long sentence of no score. */
function preheaderOf(name: string | null, { line, change }: ScoreView): string {
  if (name === null) return change === null ? line : `${line}. ${change}`;
  return change === null ? `${name} — ${line}` : `${line} — ${name} — ${change}`;
}

function stepsOf({ activationActions }: Payload, appBaseUrl: string): StepView[] {
  return activationActions.slice(0, MAX_STEPS).map(({ label, path }) => ({
    label: boundedLine(label, MAX_STEP_UNITS),
    href: appLink(appBaseUrl, path),
  }));
}

function notesOf(cards: CardView[], days: string, sender: string): string[] {
  const isCompared = cards.some(({ main, small }) =>
    [...main, ...small].some(({ change }) => change !== null),
  );
  return [sender, weekNote(days), ...(isCompared ? [CHANGE_NOTE] : [])];
}
