import type { Alert } from "../../alert/alert.ts";
import type { AcceptOutcome, Begun, Settlement, TriedBefore, Tries } from "../contract.ts";
import type { Outbox } from "./outbox/outbox.ts";
import type { OutboxFile } from "./outbox-file.ts";

type WaitingChange = {
  change: (outbox: Outbox) => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
};

/**
 * Commits what begins and ends together with the requests that are accepted next.
 *
 * Behaviour: a change waits for the next `accept`, at the latest until the end of this turn of the event loop, and
 *            resolves or rejects with its commit.
 */
export class SharedCommit {
  readonly #file: OutboxFile;
  #waiting: WaitingChange[] = [];

  constructor(file: OutboxFile) {
    this.#file = file;
  }

  /** Errors: those of SQLite and of the file; then nothing was accepted and nothing changed. */
  accept(requests: readonly (readonly Alert[])[], tries?: Tries): AcceptOutcome[] {
    const waiting = this.#waiting.splice(0);
    try {
      const { results, outcomes } = this.#file.use((outbox) => {
        const changes = waiting.map(
          ({ change }) =>
            () =>
              change(outbox),
        );
        return outbox.write(changes, requests, tries);
      });
      for (const [at, { resolve }] of waiting.entries()) resolve(results[at]);
      return outcomes;
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      throw error;
    }
  }

  begin(row: number, begun: Begun | null): Promise<boolean> {
    return this.#change((outbox) => outbox.begin(row, begun));
  }

  takeUp(row: number, tried: TriedBefore): Promise<void> {
    return this.#change((outbox) => outbox.takeUp(row, tried));
  }

  settle(row: number, settlement: Settlement): Promise<void> {
    return this.#change((outbox) => outbox.settle(row, settlement));
  }

  #change<T>(change: (outbox: Outbox) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve: resolve as (result: unknown) => void, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commitWaiting());
    });
  }

  #commitWaiting(): void {
    if (this.#waiting.length === 0) return;
    try {
      this.accept([]);
    } catch {
      // Each change has been rejected with it.
    }
  }
}
