/** Memory of rows that are gone is let go when so many rows are remembered. */
const MOST_REMEMBERED = 10_000;

/**
 * How often the connection broke while a row was sent, so that the peer said nothing.
 *
 * Behaviour: counts the sends of this process alone; those of an earlier one count as answered in an unclear way.
 */
export class LostSends {
  readonly #rows = new Map<number, number>();

  add(row: number): void {
    const count = this.of(row) + 1;
    this.#rows.delete(row);
    this.#rows.set(row, count);
    if (this.#rows.size > MOST_REMEMBERED) this.#rows.delete(this.#rows.keys().next().value!);
  }

  of(row: number): number {
    return this.#rows.get(row) ?? 0;
  }

  forget(row: number): void {
    this.#rows.delete(row);
  }
}
