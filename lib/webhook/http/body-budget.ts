/**
 * Limits how many bytes are held at once; what does not fit waits, in order of arrival.
 *
 * Units: bytes, milliseconds.
 */
export class BodyBudget {
  readonly #size: number;
  #held = 0;
  readonly #waiting: { bytes: number; admit: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Waits until the bytes fit; false when they did not within `waitMs`. */
  reserve(bytes: number, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(request), 1);
        resolve(false);
        this.#admit();
      }, waitMs);
      const request = {
        bytes,
        admit: () => {
          clearTimeout(timer);
          resolve(true);
        },
      };
      this.#waiting.push(request);
      this.#admit();
    });
  }

  /** Gives back bytes that were reserved. */
  release(bytes: number): void {
    this.#held -= bytes;
    this.#admit();
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#held + next.bytes > this.#size) return;
      this.#waiting.shift();
      this.#held += next.bytes;
      next.admit();
    }
  }
}
