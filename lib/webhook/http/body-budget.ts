/**
 * How many bytes may be held at once; whoever does not fit in waits, the first one first.
 *
 * Shape:  `enter` answers how to leave, or null when there was no room within `waitMs`; leaving twice does nothing. What
 *         is larger than the whole room enters when nobody else is in it.
 * Units:  bytes, milliseconds.
 */
export class BodyBudget {
  readonly #size: number;
  #held = 0;
  readonly #line: { bytes: number; enter: () => void }[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  enter(bytes: number, waitMs: number): Promise<(() => void) | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#line.splice(this.#line.indexOf(place), 1);
        resolve(null);
        this.#admit();
      }, waitMs);
      const place = {
        bytes,
        enter: () => {
          clearTimeout(timer);
          resolve(this.#leave(bytes));
        },
      };
      this.#line.push(place);
      this.#admit();
    });
  }

  #leave(bytes: number): () => void {
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#held -= bytes;
      this.#admit();
    };
  }

  #admit(): void {
    for (let next = this.#line[0]; next !== undefined; next = this.#line[0]) {
      if (this.#held > 0 && this.#held + next.bytes > this.#size) return;
      this.#line.shift();
      this.#held += next.bytes;
      next.enter();
    }
  }
}
