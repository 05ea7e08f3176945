import { LIMIT_MS } from "../wiring/host/doctor.ts";

/** Of doctor's five seconds; the rest is for its start and for its result. */
const TOTAL_MS = 4_500;
/** What the checks of a child get at least, also after the host took all the time to say who the account is. */
const LEAST_MS = 500;

/**
 * How long each check may take when `spentMs` of doctor's time are over.
 *
 * Units: milliseconds, whole tenths of a second as a finding names them.
 */
export function checkLimitMs(spentMs: number): number {
  const leftMs = Math.floor((TOTAL_MS - spentMs) / 100) * 100;
  return Math.max(LEAST_MS, Math.min(LIMIT_MS, leftMs));
}

/**
 * How long becoming an account may take that a directory service has, for the trial: starting the checks takes as long
 * again.
 *
 * Units: milliseconds.
 */
export function directoryTrialMs(spentMs: number): number {
  return Math.max(LEAST_MS, (TOTAL_MS - LEAST_MS - spentMs) / 2);
}

/**
 * How long a child is read whose start asks a directory service, from its start on.
 *
 * Units: milliseconds.
 */
export function directoryChildMs(spentMs: number): number {
  return Math.max(LEAST_MS, TOTAL_MS + 100 - spentMs);
}
