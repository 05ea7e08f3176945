/** An amount that several users share; none can take more than is left. */
export class Allowance {
  #left: number;

  constructor(most: number) {
    this.#left = most;
  }

  /** Takes `amount`, or takes nothing and returns false when less is left. */
  take(amount: number): boolean {
    if (amount > this.#left) return false;
    this.#left -= amount;
    return true;
  }

  giveBack(amount: number): void {
    this.#left += amount;
  }
}
