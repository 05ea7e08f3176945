/** The clock of a hurried service, its peers and its database: it runs faster from an instant that all of them know. */

/** How much faster than real time it runs; calls and statements take as long as they take. */
export const HASTE = 20;

/** The time of that clock; `epochMs` is when it began, in real time. */
export function hurriedNowMs(epochMs: number, realMs: number): number {
  return Math.round(epochMs + (realMs - epochMs) * HASTE);
}
