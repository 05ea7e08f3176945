import type { Alert } from "../alert/alert.ts";
import { alertInstant, formatClockTime } from "../alert/time.ts";
import { durationText } from "./duration.ts";

/** From this wait on a message says that it is late. */
const LATE_MS = 2 * 60_000;

/** An alert's times, and whether the platform sends it again. */
export type Times = Pick<Alert, "status" | "firing" | "startsAt" | "endsAt">;

/**
 * Since when an alert fires, or how long it lasted: `desde 18:10 (há 5 min)`, `durou 42 min (18:10 a 18:52)`.
 *
 * Shape: null when no time is known. A start after `nowMs`, of a clock that is ahead, has no "há".
 */
export function timing(alert: Times, { isRepeat, nowMs }: { isRepeat: boolean; nowMs: number }) {
  if (alert.status === "resolved") return resolvedTiming(alert, nowMs);
  const start = alertInstant(alert.startsAt);
  if (start === null) return null;
  const since = `${isRepeat && alert.firing ? "continua desde" : "desde"} ${formatClockTime(start, nowMs)}`;
  const ageMs = nowMs - start.epochMilliseconds;
  return ageMs < 0 ? since : `${since} (há ${durationText(ageMs)})`;
}

/** From when to when an alert lasted, as short as it can be: `18:10`, or `18:10–18:52` when it ended. */
export function timeSpan(alert: Times, nowMs: number): string | null {
  const shown = clockTimes(alert, nowMs).filter((time) => time !== null);
  return shown.length === 0 ? null : shown.join("–");
}

/** How long a resolved alert lasted; null when that is not known. */
export function lastedMs(alert: Times): number | null {
  const [start, end] = [alertInstant(alert.startsAt), endOf(alert)];
  if (start === null || end === null) return null;
  const ms = end.epochMilliseconds - start.epochMilliseconds;
  return ms < 0 ? null : ms;
}

/** `enviado com 42 min de atraso`; null for a message that waited less than two minutes. */
export function lateness(waitedMs: number): string | null {
  return waitedMs < LATE_MS ? null : `enviado com ${durationText(waitedMs)} de atraso`;
}

function resolvedTiming(alert: Times, nowMs: number): string | null {
  const ms = lastedMs(alert);
  const [from, until] = clockTimes(alert, nowMs);
  if (ms !== null) return `durou ${durationText(ms)} (${from} a ${until})`;
  if (until !== null) return `terminou ${until}`;
  return from === null ? null : `começou ${from}`;
}

/** Start and end; an end on the day of its start has no date of its own. */
function clockTimes(alert: Times, nowMs: number): [start: string | null, end: string | null] {
  const [start, end] = [alertInstant(alert.startsAt), endOf(alert)];
  const from = start === null ? null : formatClockTime(start, nowMs);
  if (end === null) return [from, null];
  const isInOrder = start !== null && lastedMs(alert) !== null;
  const onDayOfStart = isInOrder ? formatClockTime(end, start.epochMilliseconds) : null;
  return [from, onDayOfStart?.length === "00:00".length ? onDayOfStart : formatClockTime(end, nowMs)];
}

function endOf({ status, endsAt }: Times) {
  return status === "resolved" ? alertInstant(endsAt) : null;
}
