import type { DueRow } from "../../state/contract.ts";
import type { LookUp } from "../attempts/attempt.ts";
import { KEPT_AFTER_MS } from "../attempts/doubt.ts";

/**
 * The rows whose attempt an earlier process began and never ended, while it is too soon to look them up.
 *
 * Behaviour: `begin` says that this process delivers from now on: each such attempt began before that. They are looked
 *            up once the peer has written down what it took.
 */
export class FreshDoubts {
  readonly #lookUp: LookUp | null;
  readonly #monotonicMs: () => number;
  readonly #rows = new Set<number>();
  #begunMs: number;

  constructor(dependencies: { lookUp: LookUp | null; monotonicMs: () => number }) {
    this.#lookUp = dependencies.lookUp;
    this.#monotonicMs = dependencies.monotonicMs;
    this.#begunMs = dependencies.monotonicMs();
  }

  begin(): void {
    this.#begunMs = this.#monotonicMs();
  }

  /** The rows that were found too soon. */
  get waiting(): readonly number[] {
    if (!this.#isTooSoon) this.#rows.clear();
    return [...this.#rows];
  }

  /** Whether it is too soon for a row; then it is among those that wait. */
  keepsWaiting({ id, isUnsettled }: Pick<DueRow, "id" | "isUnsettled">): boolean {
    if (this.#lookUp === null || !isUnsettled || !this.#isTooSoon) return false;
    this.#rows.add(id);
    return true;
  }

  get #isTooSoon(): boolean {
    return this.#monotonicMs() - this.#begunMs < KEPT_AFTER_MS;
  }
}
