/** There is a run every five minutes: three missing ones are no coincidence. */
export const STALE_READINGS_MS = 15 * 60_000;

/**
 * When the monitor last wrote a line, in milliseconds since 1970, the sockets that it counted, and above which number
 * it alerts; null: not known.
 */
export type LastReadings = { timeMs: number; total: number | null; threshold: number | null };

/** The last line in the end of the monitor's log; null when no line of it can be read. */
export function lastReadings(text: string): LastReadings | null {
  const line = text.trimEnd().split("\n").at(-1) ?? "";
  try {
    const { time, total, threshold } = Object(JSON.parse(line)) as Record<string, unknown>;
    const timeMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
    const number = (value: unknown) => (typeof value === "number" ? value : null);
    return Number.isNaN(timeMs) ? null : { timeMs, total: number(total), threshold: number(threshold) };
  } catch {
    return null;
  }
}
