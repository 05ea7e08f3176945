import type { LastRunReading } from "./read.ts";

/**
 * Whether the weekly run has worked on this host, or was meant to.
 *
 * Behaviour: cron starts it on every host, so that the record of a run which only missed its settings says nothing. A
 *            record that cannot be read counts.
 */
export function hasWorked(reading: LastRunReading): boolean {
  if (reading.status !== "found") return reading.status === "unreadable";
  const { begunAt, error } = reading.run;
  return begunAt !== null || error?.code !== "CONFIG_INVALID";
}
