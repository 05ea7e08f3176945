import type { Alert } from "../../alert/alert.ts";
import { alertKey } from "../../alert/alert-key.ts";
import { ISSUE_TTL_MS } from "../../state/contract.ts";
import { mayHaveArrived } from "../attempts/doubt.ts";
import { newTelling, type Telling } from "./telling.ts";

/** How long it is remembered what the gateway took for a post that was not answered with 200. */
const REMEMBERED_MS = ISSUE_TTL_MS;
const MOST_REMEMBERED = 20_000;

/**
 * The messages that posts wait for, and those taken, or perhaps taken, for posts that were not answered with 200.
 *
 * Behaviour: the latter are remembered for 30 minutes after the last post.
 */
export class Tellings {
  readonly #monotonicMs: () => number;
  readonly #tellings = new Map<string, Telling>();
  #lastId = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get size(): number {
    return this.#tellings.size;
  }

  find(alert: Alert): Telling | null {
    const telling = this.#tellings.get(alertKey(alert));
    return telling === undefined || this.#isOld(telling) ? null : telling;
  }

  /** That of an alert for which another post waits from now on. */
  of(alert: Alert): Telling {
    const wantedAtMs = this.#monotonicMs();
    this.#lastId -= 1;
    const telling = this.find(alert) ?? newTelling(alert, { id: this.#lastId, wantedAtMs });
    telling.wantedAtMs = wantedAtMs;
    // At the end of those that are remembered.
    this.#tellings.delete(telling.key);
    this.#tellings.set(telling.key, telling);
    return telling;
  }

  /** Forgets what was answered, unless another post still owes its sender that answer. */
  answered(telling: Telling, isAllTaken: boolean): void {
    telling.posts -= 1;
    const isOwed = !isAllTaken && (telling.taken !== null || mayHaveArrived(telling.row));
    if (telling.posts === 0 && !isOwed) this.forget(telling);
  }

  forget(telling: Telling): void {
    if (this.#tellings.get(telling.key) === telling) this.#tellings.delete(telling.key);
  }

  forgetOld(): void {
    for (const telling of this.#tellings.values()) {
      if (telling.posts > 0) continue;
      if (!this.#isOld(telling) && this.#tellings.size <= MOST_REMEMBERED) return;
      this.#tellings.delete(telling.key);
    }
  }

  #isOld({ wantedAtMs }: Telling): boolean {
    return this.#monotonicMs() - wantedAtMs >= REMEMBERED_MS;
  }
}
