/** An e-mail of the second channel; the same `id` always has the same content. */
export type AlertEmail = { id: string; subject: string; html: string; text: string };

/** An e-mail that was made, and the rows that it tells. */
export type MadeEmail = { email: AlertEmail; rows: readonly number[] };

/**
 * The e-mails whose sends got no clear answer: each is to be sent again as it is.
 *
 * Units:     `againAtMs` is on the caller's monotonic clock.
 * Behaviour: the one that waits longest for its next send comes first, so that none keeps another from it. One whose
 *            alerts are all told is forgotten.
 */
export class UnclearEmails {
  #emails: readonly { made: MadeEmail; againAtMs: number }[] = [];

  /** The one that was sent last comes last. */
  get all(): readonly MadeEmail[] {
    return this.#emails.map(({ made }) => made);
  }

  add(made: MadeEmail, againAtMs: number): void {
    if (!this.#has(made)) this.#emails = [...this.#emails, { made, againAtMs }];
  }

  /** Whether it was one of them. */
  remove(made: MadeEmail): boolean {
    const isKnown = this.#has(made);
    this.#emails = this.#emails.filter((each) => each.made.email.id !== made.email.id);
    return isKnown;
  }

  tells(row: number): boolean {
    return this.#emails.some(({ made }) => made.rows.includes(row));
  }

  /** Forgets those that tell none of these rows. */
  forgetAllBut(rows: readonly number[]): void {
    const waiting = new Set(rows);
    this.#emails = this.#emails.filter(({ made }) => made.rows.some((row) => waiting.has(row)));
  }

  /** The one to be sent again now, or null. */
  due(nowMs: number): MadeEmail | null {
    const due = this.#emails.filter(({ againAtMs }) => againAtMs <= nowMs);
    return due.toSorted((a, b) => a.againAtMs - b.againAtMs)[0]?.made ?? null;
  }

  #has({ email: { id } }: MadeEmail): boolean {
    return this.#emails.some(({ made }) => made.email.id === id);
  }
}
