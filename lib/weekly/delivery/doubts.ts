/**
 * The deliveries of one channel that ended in doubt, and the right to begin another one.
 *
 * Shape:     `inARow` is how many did since the last clear answer; `isSpent` when there is no more room for one.
 * Behaviour: each delivery that has begun may end in doubt, so only as many begin as there is room for: the doubts of a
 *            provider that goes silent never exceed the limit, however many deliveries are in flight.
 */
export type Doubts = {
  readonly inARow: number;
  isSpent(): boolean;
  add(): void;
  clear(): void;
  /** Waits for room; returns a release, to be called once the delivery's outcome is known. Rejects when aborted. */
  enter(signal: AbortSignal): Promise<() => void>;
  /** The same without waiting; null when there is no room. */
  tryEnter(): (() => void) | null;
};

/** No doubts, and room for `limit` of them. */
export function createDoubts(limit: number): Doubts {
  let inARow = 0;
  let inFlight = 0;
  const waiting = new Set<() => void>();
  const hasRoom = () => inARow + inFlight < limit;
  const take = () => {
    inFlight += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      inFlight -= 1;
      admitWaiting();
    };
  };
  function admitWaiting(): void {
    for (const admit of waiting) {
      if (!hasRoom()) return;
      admit();
    }
  }
  return {
    get inARow() {
      return inARow;
    },
    isSpent: () => inARow >= limit,
    add() {
      inARow += 1;
    },
    clear() {
      inARow = 0;
    },
    tryEnter: () => (waiting.size === 0 && hasRoom() ? take() : null),
    async enter(signal) {
      signal.throwIfAborted();
      return waiting.size === 0 && hasRoom() ? take() : await admitted(waiting, take, signal);
    },
  };
}

/** Waits among `waiting` and takes room in the moment in which it is admitted; rejects when aborted. */
function admitted<T>(waiting: Set<() => void>, take: () => T, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const admit = () => {
      leave();
      resolve(take());
    };
    const abort = () => {
      leave();
      reject(signal.reason);
    };
    const leave = () => {
      waiting.delete(admit);
      signal.removeEventListener("abort", abort);
    };
    waiting.add(admit);
    signal.addEventListener("abort", abort);
  });
}
