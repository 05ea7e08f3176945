import { BodyBudget } from "./body-budget.ts";
import type { Admit } from "./read-body.ts";

/** Bodies above this size have a budget of their own, so that others do not wait for them. */
const LARGE_BYTES = 1_048_576;
/** How much all bodies up to a mebibyte, and all larger ones, may hold, each from its first byte to its answer. */
const ORDINARY_BUDGET_BYTES = 8_388_608;
const LARGE_BUDGET_BYTES = 16_777_216;
/** How long a body may wait for its share; senders wait for half a minute. */
const WAIT_MS = 15_000;

/**
 * The memory that all bodies which are not small share: one budget for the ordinary ones, another for the large ones.
 *
 * Behaviour: `hold` runs work that may ask for one share; the share is given back when the work has ended.
 */
export class BodyShares {
  readonly #ordinary = new BodyBudget(ORDINARY_BUDGET_BYTES);
  readonly #large = new BodyBudget(LARGE_BUDGET_BYTES);

  async hold<T>(work: (admit: Admit) => Promise<T>): Promise<T> {
    const releases: (() => void)[] = [];
    try {
      return await work(async (bytes) => {
        const budget = bytes > LARGE_BYTES ? this.#large : this.#ordinary;
        const isAdmitted = await budget.reserve(bytes, WAIT_MS);
        if (isAdmitted) releases.push(() => budget.release(bytes));
        return isAdmitted;
      });
    } finally {
      for (const release of releases) release();
    }
  }
}
