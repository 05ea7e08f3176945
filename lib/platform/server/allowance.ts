/** So much of something may be taken at once, by all together. */
export class Allowance {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** Takes so much; takes nothing and returns false when there is less. */
  take(amount: number): boolean {
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }

  giveBack(amount: number): void {
    this.#left += amount;
  }
}
