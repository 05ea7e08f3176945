/** There is a run every five minutes: three missing ones are no coincidence. */
export const STALE_READINGS_MS = 15 * 60_000;

/** When the monitor last wrote a line, in milliseconds since 1970, and the sockets that it counted; null: not known. */
export type LastReadings = { timeMs: number; total: number | null };

/** The last line in the end of the monitor's log; null when no line of it can be read. */
export function lastReadings(text: string): LastReadings | null {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  try {
    const { time, total } = Object(JSON.parse(line)) as { time?: unknown; total?: unknown };
    const timeMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
    return Number.isNaN(timeMs) ? null : { timeMs, total: typeof total === "number" ? total : null };
  } catch {
    return null;
  }
}
