import type { Alert } from "../../alert/alert.ts";
import type { AcceptOutcome, Settlement } from "../contract.ts";
import type { Settled } from "./outbox/settle.ts";
import type { OutboxFile } from "./outbox-file.ts";

type WaitingSettlement = Settled & { resolve: () => void; reject: (error: unknown) => void };

/**
 * Commits settlements together with the requests that are accepted next.
 *
 * Behaviour: a settlement waits for the next `accept`, at the latest until the end of this turn of the event loop, and
 *            resolves or rejects with its commit.
 */
export class SharedCommit {
  readonly #file: OutboxFile;
  #waiting: WaitingSettlement[] = [];

  constructor(file: OutboxFile) {
    this.#file = file;
  }

  /** Errors: those of SQLite and of the file; then nothing was accepted and nothing settled. */
  accept(requests: readonly (readonly Alert[])[]): AcceptOutcome[] {
    const settled = this.#waiting.splice(0);
    try {
      const outcomes = this.#file.use((outbox) => outbox.write(settled, requests));
      for (const { resolve } of settled) resolve();
      return outcomes;
    } catch (error) {
      for (const { reject } of settled) reject(error);
      throw error;
    }
  }

  settle(row: number, settlement: Settlement): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, settlement, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commitWaiting());
    });
  }

  #commitWaiting(): void {
    if (this.#waiting.length === 0) return;
    try {
      this.accept([]);
    } catch {
      // Each settlement has been rejected with it.
    }
  }
}
