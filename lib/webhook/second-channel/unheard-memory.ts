import type { AcceptedAlert, UnheardAlert } from "../state/contract.ts";
import { isUrgent } from "../state/stored.ts";

/** As many as the state returns at once. */
const MOST_REMEMBERED = 1_000;

/** The clocks of the memories. */
export type Clocks = {
  /** The clock that people read. */
  nowMs: () => number;
  monotonicMs: () => number;
};

/** `sinceMs` is when it began to wait, on the monotonic clock; `isOwn`: this process accepted it. */
type Remembered = { alert: UnheardAlert; sinceMs: number; isOwn: boolean; number: number };

/**
 * The urgent alerts in the state that WhatsApp has not taken, for the time in which the state can be neither read nor
 * written.
 *
 * Behaviour: what the state said last, and what was accepted since; at most 1,000. Of a process that is not the one to
 *            tell only what it accepted itself: the others are told by that one. Knows what was told and not recorded
 *            yet.
 */
export class UnheardMemory {
  readonly #clocks: Clocks;
  #rows = new Map<number, Remembered>();
  /** Told by WhatsApp, as far as this process knows, while the state may not know it yet. */
  #delivered = new Set<number>();
  readonly #owed = new Set<number>();
  #lastNumber = 0;

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
  }

  /** Rows that were e-mailed, which the state does not know yet. */
  get owed(): readonly number[] {
    return [...this.#owed];
  }

  accepted(alerts: readonly AcceptedAlert[]): void {
    for (const { alert, messageRow, issue } of alerts) {
      if (!isUrgent(alert)) continue;
      const issueUrl = issue.status === "duplicate" ? issue.url : null;
      const acceptedAtMs = this.#clocks.nowMs();
      this.#remember({ row: messageRow, alert, status: "queued", acceptedAtMs, issueUrl }, true);
    }
  }

  /** WhatsApp took the message of a row. */
  delivered(row: number): void {
    if (this.#rows.delete(row)) this.#delivered.add(row);
    const [oldest] = this.#delivered;
    if (this.#delivered.size > MOST_REMEMBERED) this.#delivered.delete(oldest!);
  }

  /** Begins to read the state; to be called with what was found. What is accepted meanwhile is kept beside it. */
  reading(): (found: readonly UnheardAlert[], isTelling: boolean) => void {
    const newest = this.#lastNumber;
    return (found, isTelling) => {
      const before = this.#rows;
      this.#rows = new Map();
      for (const alert of found) {
        const known = before.get(alert.row);
        if (isTelling || known?.isOwn) this.#remember(alert, known?.isOwn ?? false, known?.sinceMs);
      }
      for (const [row, known] of before)
        if (known.number > newest && !this.#rows.has(row)) this.#rows.set(row, known);
      const rows = new Set(found.map(({ row }) => row));
      this.#delivered = this.#delivered.intersection(rows);
    };
  }

  /** The alerts that have waited at least this long, the oldest first. */
  waiting(waitedMs: number): UnheardAlert[] {
    const latestMs = this.#clocks.monotonicMs() - waitedMs;
    const waiting = [...this.#rows.values()].filter(({ sinceMs }) => sinceMs <= latestMs);
    return waiting.map(({ alert }) => alert);
  }

  /** Whether a row was told already, whatever the state says. */
  isTold(row: number): boolean {
    return this.#owed.has(row) || this.#delivered.has(row);
  }

  emailed(rows: readonly number[]): void {
    for (const row of rows) this.#owed.add(row);
  }

  recorded(rows: readonly number[]): void {
    for (const row of rows) {
      this.#owed.delete(row);
      this.#rows.delete(row);
    }
  }

  #remember(alert: UnheardAlert, isOwn: boolean, knownSinceMs?: number): void {
    if (this.#rows.size >= MOST_REMEMBERED) return;
    const { nowMs, monotonicMs } = this.#clocks;
    this.#lastNumber += 1;
    const sinceMs = knownSinceMs ?? monotonicMs() - Math.max(0, nowMs() - alert.acceptedAtMs);
    this.#rows.set(alert.row, { alert, sinceMs, isOwn, number: this.#lastNumber });
  }
}
