/** Twice as long as a role lasts that its process cannot renew: then no process has it. */
const VACANT_MS = 30_000;

/**
 * Whether this process delivers, and whether it is the one that tells people otherwise what waits.
 *
 * Shape:     `learn` takes what the state says of the role: null when it cannot say.
 * Behaviour: while no process can take the role, the one that had it last tells what waits; after 30 seconds each one
 *            does, because that one may be gone: told twice is better than not told.
 */
export class Leadership {
  readonly #monotonicMs: () => number;
  #isLeading = false;
  #ledLast = false;
  #unknownSinceMs: number | null = null;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  get isTelling(): boolean {
    if (this.#unknownSinceMs === null) return this.#isLeading;
    return this.#ledLast || this.#monotonicMs() - this.#unknownSinceMs >= VACANT_MS;
  }

  learn(leads: boolean | null): void {
    this.#isLeading = leads === true;
    if (leads === null) this.#unknownSinceMs ??= this.#monotonicMs();
    else {
      this.#unknownSinceMs = null;
      this.#ledLast = leads;
    }
  }
}
