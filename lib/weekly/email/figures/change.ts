import { formatNumber, formatPercent } from "../../../text/pt-br.ts";
import { isRate, metricValue, shareOf } from "../../texts/metric-text.ts";
import type { Direction } from "./figure-meaning.ts";

/** Stands beside a figure that the week before does not have, in a card that compares others. */
const NO_COMPARISON_TEXT = "sem comparação";

/** A percentage of a figure that was smaller than this says less than the two numbers. */
const MIN_WHOLE = 20;

/** From ten times on, a percentage is harder to read than the two numbers. */
const MAX_GROWTH = 10;

/** Below this a rate counts as this one where sizes are compared: 2% is ten times 0.2%, yet few of all. */
const SMALLEST_WHOLE_RATE = 0.1;

/** A rate's change below one percentage point has the size 0; in tenths of a point, as it is shown. */
const MIN_TENTHS_OF_POINT = 10;

/** From here on a double has no exact hundredths. */
const LARGEST_EXACT = 1e13;

/** Where a figure went, whether that is good news, and the words for it; the words alone say all of it. */
export type ChangeView = {
  trend: "up" | "down" | "flat" | "unknown";
  tone: "good" | "bad" | "plain";
  text: string;
  /** The change in per cent, for where there is room. */
  percent: string | null;
  /**
   * How large the change is, 0 to 1 where no figure is below zero: its share of the larger figure. A rate below 10%
   * counts as 10%, so that points of the whole weigh as well, and one that moves by less than a point has the size 0.
   */
  size: number;
};

const NO_COMPARISON: ChangeView = {
  trend: "unknown",
  tone: "plain",
  text: NO_COMPARISON_TEXT,
  percent: null,
  size: 0,
};

const UNCHANGED: ChangeView = { trend: "flat", tone: "plain", text: "igual", percent: null, size: 0 };

/**
 * The change of a figure since the week before.
 *
 * Units:     rates change in percentage points, all others by their difference.
 * Behaviour: the difference is that of the figures as they are shown, so that they add up. Not compared are two rates
 *            whose units cannot be told, and two numbers whose difference is beyond all numbers.
 */
export function changeOf(
  key: string,
  now: number | null,
  before: number | null,
  direction: Direction,
): ChangeView {
  if (now === null || before === null || !Number.isFinite(now - before)) return NO_COMPARISON;
  const rate = isRate(key);
  if (rate && !areInOneUnit(now, before)) return NO_COMPARISON;
  if (isShownAlike(key, now, before)) return UNCHANGED;
  const [shown, shownBefore] = rate ? [shareOf(now), shareOf(before)] : [now, before];
  const parts = rate ? 1_000 : 100;
  const difference = Math.abs(rounded(shown, parts) - rounded(shownBefore, parts));
  const trend = shown > shownBefore ? "up" : "down";
  return {
    trend,
    tone: toneOf(trend, isSignKnown(direction, now, before) ? direction : "neutral"),
    text: `${rate ? pointsText(difference) : formatNumber(difference)} ${trend === "up" ? "a mais" : "a menos"}`,
    percent: rate ? null : percentText(difference, shownBefore),
    size: rate && !isPointApart(difference) ? 0 : sizeOf(shown, shownBefore, rate ? SMALLEST_WHOLE_RATE : 0),
  };
}

function sizeOf(now: number, before: number, smallestWhole: number): number {
  return Math.abs(now - before) / Math.max(Math.abs(now), Math.abs(before), smallestWhole);
}

/** Whether two shown rates differ by a percentage point at least; rounded, because a double has no exact tenths. */
function isPointApart(difference: number): boolean {
  return Math.round(difference * 1_000) >= MIN_TENTHS_OF_POINT;
}

/**
 * Whether two rates are surely in one unit.
 *
 * Behaviour: up to 1 a rate counts as a share, above 1 as a percentage. Of two on different sides the smaller may be
 *            either: 0.9 beside 1.2 a small percentage, 1 beside 50 one of a hundred or all of them. Zero is the same
 *            in both.
 */
function areInOneUnit(now: number, before: number): boolean {
  if (now === 0 || before === 0) return true;
  return Math.abs(now) <= 1 === Math.abs(before) <= 1;
}

/** A difference of a whole shown part or more shows; only smaller ones need the texts. */
function isShownAlike(key: string, now: number, before: number): boolean {
  if (now === before) return true;
  const isFar = Math.abs(now - before) >= 1 && Math.max(Math.abs(now), Math.abs(before)) < LARGEST_EXACT;
  return !(isFar && !isRate(key)) && metricValue(key, now) === metricValue(key, before);
}

/** A loss below zero may be written so by the application, or be a gain: it is neither good nor bad. */
function isSignKnown(direction: Direction, now: number, before: number): boolean {
  return direction !== "less_is_better" || Math.min(now, before) >= 0;
}

function toneOf(trend: "up" | "down", direction: Direction): ChangeView["tone"] {
  if (direction === "neutral") return "plain";
  return (trend === "up") === (direction === "more_is_better") ? "good" : "bad";
}

function pointsText(difference: number): string {
  return difference === 0 ? "menos de 0,1 p.p." : formatPercent(difference).replace("%", " p.p.");
}

/** Never from zero or from less, and not of a handful. */
function percentText(difference: number, before: number): string | null {
  const growth = difference / before;
  return before >= MIN_WHOLE && growth < MAX_GROWTH ? formatPercent(growth) : null;
}

function rounded(value: number, parts: number): number {
  const size = Math.abs(value);
  if (size >= LARGEST_EXACT || Number.isInteger(value)) return value;
  return (Math.sign(value) * Math.floor(Number((size * parts).toPrecision(15)) + 0.5)) / parts;
}
