/**
 * Limits how many bytes are held at once; what does not fit waits, in order of arrival.
 *
 * Shape:     `reserve` resolves to the function that releases the bytes, or to null when they did not fit within
 *            `waitMs`.
 * Behaviour: releasing twice does nothing. What is larger than the whole budget is admitted when nothing else is held.
 * Units:     bytes, milliseconds.
 */
export class BodyBudget {
  readonly #size: number;
  #held = 0;
  readonly #waiting: { bytes: number; admit: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  reserve(bytes: number, waitMs: number): Promise<(() => void) | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(request), 1);
        resolve(null);
        this.#admit();
      }, waitMs);
      const request = {
        bytes,
        admit: () => {
          clearTimeout(timer);
          resolve(this.#releaseOf(bytes));
        },
      };
      this.#waiting.push(request);
      this.#admit();
    });
  }

  #releaseOf(bytes: number): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= bytes;
      this.#admit();
    };
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#held > 0 && this.#held + next.bytes > this.#size) return;
      this.#waiting.shift();
      this.#held += next.bytes;
      next.admit();
    }
  }
}
