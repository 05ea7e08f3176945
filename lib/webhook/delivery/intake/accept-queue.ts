import type { Alert } from "../../alert/alert.ts";
import type { AcceptOutcome, State } from "../../state/contract.ts";

/**
 * How much is committed together at most: with more, the first request would wait for the last.
 *
 * Shape: `turnsBefore` of the event loop come before each commit, in which what came meanwhile is served.
 */
export type BatchLimits = { requests: number; alerts: number; turnsBefore: number };

type Waiting = { alerts: readonly Alert[]; resolve: (outcome: AcceptOutcome) => void };

/**
 * Commits together the requests that wait together.
 *
 * Shape:     `waiting` is how many requests wait for their commit; `idle` resolves when none does.
 * Behaviour: in order of arrival. A request with more alerts than the limit is committed by itself.
 * Errors:    `add` rejects only when `accept` does, which it does not.
 */
export class AcceptQueue {
  readonly #accept: State["accept"];
  readonly #limits: BatchLimits;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | null = null;

  constructor(accept: State["accept"], limits: BatchLimits) {
    this.#accept = accept;
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(alerts: readonly Alert[]): Promise<AcceptOutcome> {
    return new Promise((resolve) => {
      this.#waiting.push({ alerts, resolve });
      this.#flushing ??= this.#flush();
    });
  }

  async idle(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      for (let turns = 0; turns < this.#limits.turnsBefore; turns += 1) await oneTurn();
      await this.#gather();
      const batch = this.#waiting.splice(0, this.#batchSize());
      const outcomes = await this.#accept(batch.map(({ alerts }) => alerts));
      for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at]!);
    }
    // Nothing is awaited between the last look and this line: the next request starts a new flush.
    this.#flushing = null;
  }

  /** Waits for as long as each turn of the event loop brings more requests, so that they share the commit. */
  async #gather(): Promise<void> {
    for (let before = 0; before < this.#waiting.length && before < this.#limits.requests; ) {
      before = this.#waiting.length;
      await oneTurn();
    }
  }

  #batchSize(): number {
    let left = this.#limits.alerts;
    const end = this.#waiting.findIndex(({ alerts }, at) => {
      left -= alerts.length;
      return at > 0 && (left < 0 || at === this.#limits.requests);
    });
    return end === -1 ? this.#waiting.length : end;
  }
}

function oneTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
