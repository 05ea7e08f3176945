import { parseUuid } from "../../../lib/platform/config/uuid.ts";
import type { ValueCheck } from "../command.ts";

/** Accepts a UUID. */
export const aUuid: ValueCheck = (value) => (parseUuid(value) === undefined ? "expects a UUID" : undefined);

/** Accepts a whole number from 1, written in digits only. */
export const aPositiveInteger: ValueCheck = (value) =>
  /^[0-9]{1,9}$/.test(value) && Number(value) > 0 ? undefined : "expects a positive whole number";

/** Accepts a whole number from 0, written in digits only. */
export const aWholeNumber: ValueCheck = (value) =>
  /^[0-9]{1,9}$/.test(value) ? undefined : "expects a whole number";

/** Accepts a whole number of minutes, up to a day. */
export const aMinuteCount: ValueCheck = (value) =>
  /^[0-9]{1,9}$/.test(value) && Number(value) <= 1440
    ? undefined
    : "expects a whole number of minutes, 0 to 1440";

/** Accepts an http or https URL. */
export const aWebUrl: ValueCheck = (value) =>
  /^https?:\/\//i.test(value) && URL.canParse(value) ? undefined : "expects an http or https URL";

/** Accepts a TCP port; 0 lets the system choose a free one. */
export const aPort: ValueCheck = (value) =>
  /^[0-9]{1,5}$/.test(value) && Number(value) <= 65_535 ? undefined : "expects a port, 0 to 65535";

/** Accepts the date of a Monday, `YYYY-MM-DD`: a week is named after its first day. */
export const aMonday: ValueCheck = (value) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : new Date(Number.NaN);
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
  if (!isReal) return "expects a date, YYYY-MM-DD";
  return time.getUTCDay() === 1 ? undefined : "expects a Monday, the first day of the report's week";
};
