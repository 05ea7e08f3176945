import type { BurstLimit, StartQuota } from "../../../platform/rate/token-bucket.ts";

const MINUTE_MS = 60_000;
/** What starts a minute apart may arrive a little closer. */
const WINDOW_MS = MINUTE_MS + 1_000;
/** How exactly it is known when something started before this process. */
const STEP_MS = 5_000;

/** A quota that holds in any minute: `burst` starts at once, the rest of `perMinute` evenly in the minute after. */
export class SlidingMinute implements StartQuota {
  readonly #limit: BurstLimit;
  /** When each of the last minute started, the oldest first. */
  #startedMs: number[] = [];
  #nowMs = Number.NEGATIVE_INFINITY;

  constructor(limit: BurstLimit) {
    this.#limit = limit;
  }

  available(nowMs: number): number {
    const { perMinute, burst } = this.#limit;
    this.#nowMs = Math.max(this.#nowMs, nowMs);
    while (this.#startedMs[0]! <= this.#nowMs - WINDOW_MS) this.#startedMs.shift();
    const oldestMs = this.#startedMs[0];
    if (oldestMs === undefined) return burst;
    const sharedOut = ((perMinute - burst) * (this.#nowMs - oldestMs)) / MINUTE_MS;
    // Thirty times a thirtieth is a little less than one in floating point.
    const allowed = Math.min(perMinute, burst + Math.floor(sharedOut + 1e-9));
    return Math.max(0, Math.min(burst, allowed - this.#startedMs.length));
  }

  take(nowMs: number): void {
    if (this.available(nowMs) < 1) throw new RangeError("More was started than the rate allows");
    this.#startedMs.push(this.#nowMs);
  }

  giveBack(): void {
    // The oldest is forgotten, whichever it was: the others count for longer.
    this.#startedMs.shift();
  }

  /** Restarts with what started before; `startedWithin` returns how many began in the last `ms`. */
  async restart(nowMs: number, startedWithin: (ms: number) => Promise<number>): Promise<void> {
    const startedMs: number[] = [];
    for (let agoMs = 0; agoMs < WINDOW_MS && startedMs.length < this.#limit.perMinute; agoMs += STEP_MS) {
      const count = (await startedWithin(agoMs + STEP_MS)) - startedMs.length;
      startedMs.push(...Array<number>(Math.max(0, count)).fill(nowMs - agoMs));
    }
    this.#startedMs = startedMs.slice(0, this.#limit.perMinute).reverse();
    this.#nowMs = nowMs;
  }

  /** Restarts as if as many as may had started in the last minute, evenly. */
  restartUnknown(nowMs: number): void {
    const { perMinute } = this.#limit;
    const startOf = (_: unknown, at: number) => nowMs - WINDOW_MS + ((at + 1) * WINDOW_MS) / perMinute;
    this.#startedMs = Array.from({ length: perMinute }, startOf);
    this.#nowMs = nowMs;
  }
}
