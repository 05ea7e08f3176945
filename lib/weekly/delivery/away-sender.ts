/** How long deliveries wait in all for a sender that does not come back: a gateway that starts anew takes less. */
const PATIENCE_MS = 90_000;

/** How long to wait between two looks at the sender. */
export const LOOK_EVERY_MS = 5_000;

/**
 * A channel's sender that is away, as far as it may be back in a moment.
 *
 * Behaviour: the wait is the whole channel's, so that a sender that stays away costs a run one wait and not one for each
 *            owner. A sender that is back may be waited for again.
 * Units:     milliseconds of a clock that only grows.
 */
export type AwaySender = {
  /** Whether another look may be waited for; `begins` with the first one. */
  wait(nowMs: number): { isWorthwhile: boolean; begins: boolean };
  isBack(): void;
};

/** A sender that is there; `--patience` can only shorten the wait, and 0 is none. */
export function createAwaySender(patienceMinutes: number): AwaySender {
  const patienceMs = Math.min(PATIENCE_MS, patienceMinutes * 60_000);
  let sinceMs: number | null = null;
  return {
    wait(nowMs) {
      const begins = sinceMs === null;
      sinceMs ??= nowMs;
      return { isWorthwhile: nowMs + LOOK_EVERY_MS <= sinceMs + patienceMs, begins };
    },
    isBack() {
      sinceMs = null;
    },
  };
}
