import type { Alert } from "../alert/alert.ts";
import { alertInstant, formatClockTime } from "../alert/time.ts";

const MINUTE_MS = 60_000;
const MINUTES_PER_HOUR = 60;
const HOURS_PER_DAY = 24;
/** From this wait on a message says that it is late. */
const LATE_MS = 2 * 60_000;

/** How long something takes, for people: `menos de 1 min`, `42 min`, `4 h`, `4 h 5 min`, `2 d 3 h`. */
export function durationText(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const hours = Math.floor(minutes / MINUTES_PER_HOUR);
  const days = Math.floor(hours / HOURS_PER_DAY);
  const small = days > 0 ? [hours % HOURS_PER_DAY, "h"] : [minutes % MINUTES_PER_HOUR, "min"];
  const parts = [days > 0 ? [days, "d"] : [hours, "h"], small].filter(([count]) => count !== 0);
  return parts.length === 0 ? "menos de 1 min" : parts.flat().join(" ");
}

/**
 * Since when an alert fires, or how long it lasted: `desde 18:10 (há 5 min)`, `durou 42 min (18:10 a 18:52)`.
 *
 * Shape: null when no time is known. A start after `nowMs`, of a clock that is ahead, has no "há".
 */
export function timing(alert: Alert, { isRepeat, nowMs }: { isRepeat: boolean; nowMs: number }) {
  const [from, until] = clockTimes(alert, nowMs);
  if (alert.status === "resolved") {
    const ms = lastedMs(alert);
    if (ms !== null) return `durou ${durationText(ms)} (${from} a ${until})`;
    if (until !== null) return `terminou ${until}`;
    return from === null ? null : `começou ${from}`;
  }
  const start = alertInstant(alert.startsAt);
  if (start === null) return null;
  const since = `${isRepeat && alert.firing ? "continua desde" : "desde"} ${from}`;
  const ageMs = nowMs - start.epochMilliseconds;
  return ageMs < 0 ? since : `${since} (há ${durationText(ageMs)})`;
}

/** From when to when an alert lasted, as short as it can be: `18:10`, or `18:10–18:52` when it ended. */
export function timeSpan(alert: Alert, nowMs: number): string | null {
  return clockTimes(alert, nowMs).filter(Boolean).join("–") || null;
}

/** How long a resolved alert lasted; null when that is not known. */
export function lastedMs(alert: Alert): number | null {
  const [start, end] = [alertInstant(alert.startsAt), endOf(alert)];
  if (start === null || end === null) return null;
  const ms = end.epochMilliseconds - start.epochMilliseconds;
  return ms < 0 ? null : ms;
}

/** `enviado com 42 min de atraso`; null for a message that waited less than two minutes. */
export function lateness(waitedMs: number): string | null {
  return waitedMs < LATE_MS ? null : `enviado com ${durationText(waitedMs)} de atraso`;
}

/** Start and end; an end on the day of its start has no date of its own. */
function clockTimes(alert: Alert, nowMs: number): [start: string | null, end: string | null] {
  const [start, end] = [alertInstant(alert.startsAt), endOf(alert)];
  const [from, until] = [start && formatClockTime(start, nowMs), end && formatClockTime(end, nowMs)];
  if (start === null || end === null || lastedMs(alert) === null) return [from, until];
  const onDayOfStart = formatClockTime(end, start.epochMilliseconds);
  return [from, onDayOfStart.length === "00:00".length ? onDayOfStart : until];
}

function endOf({ status, endsAt }: Alert) {
  return status === "resolved" ? alertInstant(endsAt) : null;
}
