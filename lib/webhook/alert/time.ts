import { Temporal } from "../../time/temporal.ts";

/** The zone of the people who read the alerts. */
const ZONE = "America/Sao_Paulo";

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** How senders write that there is no time: the zero of their time type. */
const NO_TIME = /^000[01]-/;

/** `raw` unchanged when it is an RFC 3339 instant, else null. */
export function readAlertTime(raw: unknown): string | null {
  return typeof raw === "string" && instantOf(raw) !== null ? raw : null;
}

/**
 * An alert's instant as people in Brazil read it: 02/03/2026 05:15:30.
 *
 * Shape:  whole seconds of the clock in America/Sao_Paulo.
 * Errors: null for null, for what is no instant, and for the year 1, which means "not yet".
 */
export function formatAlertTime(text: string | null): string | null {
  if (text === null || NO_TIME.test(text)) return null;
  const local = instantOf(text)?.toZonedDateTimeISO(ZONE);
  if (local === undefined) return null;
  const { day, month, year, hour, minute, second } = local;
  return `${padded(day)}/${padded(month)}/${padded(year, 4)} ${[hour, minute, second].map((part) => padded(part)).join(":")}`;
}

function instantOf(text: string): Temporal.Instant | null {
  if (!RFC_3339.test(text)) return null;
  try {
    return Temporal.Instant.from(text);
  } catch {
    // The thirtieth of February has the right digits and does not exist.
    return null;
  }
}

function padded(part: number, digits = 2): string {
  return String(part).padStart(digits, "0");
}
