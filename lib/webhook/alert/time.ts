import { REPORT_ZONE } from "../../time/local-date.ts";
import { Temporal } from "../../time/temporal.ts";

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;

/** How senders write that there is no time: the zero of their time type. */
const NO_TIME = /^000[01]-/;

/** `raw` unchanged when it is an RFC 3339 instant, else null. */
export function readAlertTime(raw: unknown): string | null {
  return typeof raw === "string" && instantOf(raw) !== null ? raw : null;
}

/** The instant that a sender wrote; null for null, for text without an instant, and for the year 1: "not yet". */
export function alertInstant(text: string | null): Temporal.Instant | null {
  return text === null || NO_TIME.test(text) ? null : instantOf(text);
}

/**
 * An alert's instant as people in Brazil read it: 02/03/2026 05:15:30.
 *
 * Shape:  whole seconds of the clock in America/Sao_Paulo.
 * Errors: null for null, for what is no instant, and for the year 1, which means "not yet".
 */
export function formatAlertTime(text: string | null): string | null {
  const local = alertInstant(text)?.toZonedDateTimeISO(REPORT_ZONE);
  return local === undefined ? null : `${dateText(local)} ${clockText(local, "second")}`;
}

/**
 * An instant as short as it can be understood at `nowMs`: `18:10`, on another day `21/11 18:10`, in another year
 * `31/12/2025 18:10`.
 *
 * Shape: minutes of the clock in America/Sao_Paulo.
 */
export function formatClockTime(instant: Temporal.Instant, nowMs: number): string {
  const local = instant.toZonedDateTimeISO(REPORT_ZONE);
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(REPORT_ZONE);
  const time = clockText(local, "minute");
  if (local.toPlainDate().equals(now.toPlainDate())) return time;
  return `${local.year === now.year ? dateText(local).slice(0, "dd/mm".length) : dateText(local)} ${time}`;
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

function dateText(local: Temporal.ZonedDateTime): string {
  return local.toPlainDate().toString().split("-").reverse().join("/");
}

function clockText(local: Temporal.ZonedDateTime, smallestUnit: "minute" | "second"): string {
  return local.toPlainTime().toString({ smallestUnit, roundingMode: "trunc" });
}
