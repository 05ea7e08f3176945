import { nearest } from "../../lib/platform/nearest.ts";
import { listedValues, type Option, type ValueCheck } from "./options.ts";

/** Accepts a UUID. */
export const aUuid: ValueCheck = (value) =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? undefined : "expects a UUID";

/** Accepts a whole number from 1. */
export const aPositiveInteger = wholeNumber(1, 999_999_999, "a positive whole number");

/** Accepts a whole number from 0. */
export const aWholeNumber = wholeNumber(0, 999_999_999, "a whole number");

/** Accepts a whole number of minutes, up to a day. */
export const aMinuteCount = wholeNumber(0, 1440, "a whole number of minutes, 0 to 1440");

/** Accepts a TCP port; 0 lets the system choose a free one. */
export const aPort = wholeNumber(0, 65_535, "a port, 0 to 65535");

/** Accepts an http or https URL. */
export const aWebUrl: ValueCheck = (value) =>
  /^https?:\/\//i.test(value) && URL.canParse(value) ? undefined : "expects an http or https URL";

/** What is wrong with a value by the check of its option or argument: its own, else the one that its values imply. */
export function faultOf(value: string, option: Option): string | undefined {
  const listed = listedValues(option);
  if (option.check !== undefined) return option.check(value);
  if (listed === "weeks" || listed === "old-weeks") return aMonday(value);
  if (listed === undefined || typeof listed === "string" || listed.includes(value)) return undefined;
  return `expects one of ${listed.join(", ")}${didYouMean(value, listed)}`;
}

/** "; did you mean weekly?" for a word that is near one of the names. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = nearest(
    word,
    names.filter((name) => name !== word),
  );
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Accepts the date of a Monday, `YYYY-MM-DD`: a week is named after its first day. */
function aMonday(value: string): string | undefined {
  const time = new Date(/^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00:00Z` : "");
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
  if (!isReal) return "expects a date, YYYY-MM-DD";
  return time.getUTCDay() === 1 ? undefined : "expects a Monday, the first day of the report's week";
}

function wholeNumber(least: number, most: number, what: string): ValueCheck {
  return (value) =>
    /^[0-9]{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `expects ${what}`;
}
