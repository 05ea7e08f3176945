import type { UnheardAlert } from "../state/contract.ts";

/** An e-mail that was made, and the rows that it tells. */
type Made = { email: { id: string }; rows: readonly number[] };

/** So often an e-mail is repeated before others have their turn. */
const SENDS_IN_A_ROW = 3;

/**
 * Decides which e-mail is next, where the sends of some got no clear answer.
 *
 * Behaviour: an e-mail is repeated until its answer is clear; after three unclear ones it gives way to alerts that are in
 *            none, and then they take turns: one that its provider cannot digest keeps no other from its reader. One whose
 *            alerts are all told is forgotten.
 */
export class EmailTurns<Email extends Made> {
  #aside: readonly Email[] = [];
  #unclear: ReadonlyMap<string, number> = new Map();

  /** The send of an e-mail got no clear answer. */
  unclear({ email: { id } }: Email): void {
    this.#unclear = new Map([...this.#unclear, [id, this.#sendsOf(id) + 1]]);
  }

  /** The e-mail to be sent again, or null: then one is to be made of `others`, which are in none. */
  next(
    current: Email | null,
    unheard: readonly UnheardAlert[],
  ): { again: Email | null; others: readonly UnheardAlert[] } {
    const waiting = new Set(unheard.map(({ row }) => row));
    const known = [...(current === null ? [] : [current]), ...this.#aside].filter(({ rows }) =>
      rows.some((row) => waiting.has(row)),
    );
    const told = new Set(known.flatMap(({ rows }) => rows));
    const others = unheard.filter(({ row }) => !told.has(row));
    this.#unclear = new Map(known.map(({ email: { id } }) => [id, this.#sendsOf(id)]));
    const again = this.#choose(known, others.length > 0);
    this.#aside = known.filter((email) => email !== again);
    return { again, others };
  }

  /** The first one until it has had its turn; after that the last one, which waits longest. */
  #choose(known: readonly Email[], hasOthers: boolean): Email | null {
    const [first] = known;
    if (first === undefined) return null;
    if (this.#sendsOf(first.email.id) < SENDS_IN_A_ROW) return first;
    return hasOthers ? null : known.at(-1)!;
  }

  #sendsOf(id: string): number {
    return this.#unclear.get(id) ?? 0;
  }
}
