import { parseUuid } from "../../lib/platform/config/uuid.ts";
import { nearest } from "../../lib/platform/nearest.ts";
import { listedValues, type Option, type ValueCheck } from "./options.ts";

/** Accepts a UUID. */
export const aUuid: ValueCheck = (value) => (parseUuid(value) === undefined ? "expects a UUID" : undefined);

/** Accepts a whole number from 1, written in digits only. */
export const aPositiveInteger = wholeNumber(1, 999_999_999, "a positive whole number");

/** Accepts a whole number from 0, written in digits only. */
export const aWholeNumber = wholeNumber(0, 999_999_999, "a whole number");

/** Accepts a whole number of minutes, up to a day. */
export const aMinuteCount = wholeNumber(0, 1440, "a whole number of minutes, 0 to 1440");

/** Accepts a TCP port; 0 lets the system choose a free one. */
export const aPort = wholeNumber(0, 65_535, "a port, 0 to 65535");

/** Accepts an http or https URL. */
export const aWebUrl: ValueCheck = (value) =>
  /^https?:\/\//i.test(value) && URL.canParse(value) ? undefined : "expects an http or https URL";

/** The check of an option or argument: its own, else the one that its values imply; undefined for any value. */
export function checkOf(option: Option): ValueCheck | undefined {
  const listed = listedValues(option);
  if (option.check !== undefined || listed === undefined) return option.check;
  if (typeof listed !== "string") return oneOf(listed);
  return listed === "weeks" || listed === "old-weeks" ? aMonday : undefined;
}

/** Accepts the date of a Monday, `YYYY-MM-DD`: a week is named after its first day. */
const aMonday: ValueCheck = (value) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : new Date(Number.NaN);
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
  if (!isReal) return "expects a date, YYYY-MM-DD";
  return time.getUTCDay() === 1 ? undefined : "expects a Monday, the first day of the report's week";
};

function oneOf(words: readonly string[]): ValueCheck {
  return (value) => {
    if (words.includes(value)) return undefined;
    const near = nearest(value, words);
    return `expects one of ${words.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`;
  };
}

function wholeNumber(least: number, most: number, what: string): ValueCheck {
  return (value) =>
    /^[0-9]{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most
      ? undefined
      : `expects ${what}`;
}
