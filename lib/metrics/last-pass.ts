import { METRIC } from "../host/metric-names.ts";

/** There is a pass every minute: three missing ones are no coincidence. */
export const STALE_PASS_MS = 3 * 60_000;

/** When the pass that wrote this metrics file was made, in milliseconds since 1970; null when the text does not say. */
export function lastPassMs(text: string): number | null {
  const written = new RegExp(`^${METRIC.collectorLastRun} ([0-9.e+]+)$`, "m").exec(text)?.[1];
  const seconds = Number(written);
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** The sources that the pass could not read, as the metrics file names them. */
export function failedSources(text: string): string[] {
  const pattern = new RegExp(`^${METRIC.collectorUp}\\{source="([a-z0-9_-]{1,64})"\\} 0$`, "gm");
  return [...text.matchAll(pattern)].map(([, source]) => source as string);
}
