import type { Settlement } from "../state.ts";
import type { Settled } from "./outbox/settle.ts";

/** A settlement that waits for its commit. */
export type WaitingSettlement = Settled & { resolve: () => void; reject: (error: unknown) => void };

/**
 * Settlements that wait for a commit: the next one takes all of them along, at the latest at the end of this turn of the
 * event loop.
 */
export class Settlements {
  readonly #commit: () => void;
  #waiting: WaitingSettlement[] = [];

  /** `commit` is called when nobody has taken them until then. */
  constructor(commit: () => void) {
    this.#commit = commit;
  }

  add(row: number, settlement: Settlement): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, settlement, resolve, reject });
      if (this.#waiting.length > 1) return;
      setImmediate(() => {
        if (this.#waiting.length > 0) this.#commit();
      });
    });
  }

  /** Those that wait; whoever takes them has to end them. */
  take(): WaitingSettlement[] {
    return this.#waiting.splice(0);
  }
}
