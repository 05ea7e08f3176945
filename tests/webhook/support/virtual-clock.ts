/** A clock that a test moves, and the waits that hang on it. */
import { setImmediate } from "node:timers/promises";

type Timer = { atMs: number; wake: () => void };

/** How many turns of the event loop everything that a wake-up starts may take. */
const TURNS = 16;

/** The clock; `advance` wakes what waits, in order, and lets it come to rest each time. */
export class VirtualClock {
  nowMs: number;
  #timers: Timer[] = [];

  constructor(nowMs: number) {
    this.nowMs = nowMs;
  }

  sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return void reject(signal.reason);
      const timer = { atMs: this.nowMs + ms, wake: resolve };
      this.#timers.push(timer);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
    });

  async advance(ms: number): Promise<void> {
    const untilMs = this.nowMs + ms;
    await rest();
    for (let next = this.#next(untilMs); next !== null; next = this.#next(untilMs)) {
      this.nowMs = Math.max(this.nowMs, next.atMs);
      next.wake();
      await rest();
    }
    this.nowMs = untilMs;
  }

  #next(untilMs: number): Timer | null {
    const due = this.#timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0];
    this.#timers = this.#timers.filter((timer) => timer !== due);
    return due ?? null;
  }
}

async function rest(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await setImmediate();
}
