const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/**
 * How long to wait after the `failures`-th failure in a row: doubling from one second to five minutes, with jitter.
 *
 * Behaviour: returns between a half and the whole of the doubled time, so that what failed together is not repeated
 *            together.
 * Units:     milliseconds; `random` returns from 0 to below 1.
 */
export function backoffMs(failures: number, random: () => number): number {
  const doubled = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return Math.round(Math.max(FIRST_MS, doubled / 2 + (random() * doubled) / 2));
}
