import { priorityOf } from "../alert/priority.ts";
import { OutageLog } from "../outage-log.ts";
import type { AttemptEnd, DueRow, LaneState, OutboxKind } from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { Delivery } from "./delivery.ts";
import type { DispatcherParts, Source } from "./parts.ts";
import type { RateLimit } from "./rate-limit.ts";
import { type AttemptRows, nameOf } from "./report.ts";

/**
 * What a lane works with.
 *
 * Shape: `slots` is how many rows may be in flight at once. `mostAlone` is how many messages may wait before several
 *        become one digest; null: no digests. Rows wait two seconds at most for the first attempt of their alert in the
 *        lane `after`, and not at all while nothing can start there. `keepPause` is called with the code of a pause each
 *        time that it is found out, and with null when it is over; `onFree` when others may start. While `stopping`
 *        none starts.
 */
export type LaneParts = DispatcherParts & {
  kind: OutboxKind;
  slots: number;
  rate: RateLimit | null;
  mostAlone: number | null;
  after: Lane | null;
  stopping: AbortSignal;
  keepPause: (kind: OutboxKind, code: string | null) => void;
  onFree: () => void;
};

/** How long a row waits for its own row in the lane before. */
const AFTER_GRACE_MS = 2_000;

/** Rows in flight; `isBusy` until the external service is done with them. */
type Flight = {
  state: State;
  rows: AttemptRows;
  ids: readonly number[];
  isBusy: boolean;
  ending: Promise<AttemptEnd | null>;
};

/**
 * Delivers the rows of one kind, a few at once: slots, a rate limit and a circuit breaker for all sources.
 *
 * Behaviour: a row is in flight until its end is recorded, and with it all rows of its digest. While only its
 *            end is recorded it uses a slot of its own state alone: one that cannot be written keeps no other waiting.
 */
export class Lane {
  readonly breaker: CircuitBreaker;
  readonly #parts: LaneParts;
  readonly #delivery: Delivery;
  readonly #reads: OutageLog;
  readonly #flights = new Set<Flight>();
  readonly #abort = new AbortController();

  constructor(parts: LaneParts) {
    this.#parts = parts;
    this.breaker = new CircuitBreaker(parts);
    this.#delivery = new Delivery({ ...parts, breaker: this.breaker, signal: this.#abort.signal });
    this.#reads = new OutageLog({ ...parts, problem: "The outbox cannot be read now" });
  }

  /** How many rows could start now. */
  get startable(): number {
    const { slots, rate, stopping } = this.#parts;
    if (stopping.aborted || this.breaker.isOpen) return 0;
    const busy = [...this.#flights].filter(({ isBusy }) => isBusy).length;
    const free = (this.breaker.isHalfOpen ? 1 : slots) - busy;
    return Math.max(0, Math.min(free, rate?.available ?? free));
  }

  /** How a row in flight ends, as `Delivery.deliver`; null for another. */
  inFlight(state: State, row: number): Promise<AttemptEnd | null> | null {
    const flight = [...this.#flights].find((one) => one.state === state && one.ids.includes(row));
    return flight?.ending ?? null;
  }

  /** Goes on where another process stopped; null: what that one kept is not known. */
  recall(kept: LaneState | null): void {
    this.#parts.rate?.resume(kept?.paceAheadMs ?? null);
    if (kept !== null) this.breaker.recall(kept.pausedBy);
  }

  /** Starts the rows that may start now. Never throws. */
  async start(): Promise<void> {
    const { after } = this.#parts;
    const graceMs = after !== null && after.startable > 0 ? AFTER_GRACE_MS : 0;
    const start = async (source: Source) => {
      for (const rows of await this.#next(source.state, graceMs))
        if (this.startable > 0 && source.isOurs()) this.#launch(source.state, rows);
    };
    const sources = this.#parts.sources().filter((source) => source.isOurs());
    await Promise.all(sources.map(start));
  }

  /** Waits for the rows in flight; after `graceMs` they are aborted. */
  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), graceMs);
    await Promise.all([...this.#flights].map(({ ending }) => ending));
    clearTimeout(timer);
  }

  /** What may start of a state: a row each, or a digest. */
  async #next(state: State, issueGraceMs: number): Promise<AttemptRows[]> {
    const { kind, slots, mostAlone } = this.#parts;
    const flights = [...this.#flights].filter((flight) => flight.state === state);
    const limit = Math.min(this.startable, slots - flights.length);
    if (limit <= 0) return [];
    const except = flights.flatMap(({ ids }) => ids);
    const isProbe = this.breaker.isHalfOpen;
    try {
      const rows = await state.due(kind, { limit, except, issueGraceMs, isProbe });
      const alone = rows.map((row): AttemptRows => [row]);
      if (mostAlone === null || !rows.some(isDigestible)) return alone;
      const [first, ...others] = await state.digestible(except, mostAlone);
      if (first === undefined || others.length === 0) return alone;
      return [...alone.filter(([row]) => !isDigestible(row)), [first, ...others]];
    } catch (error) {
      this.#reads.failed({ kind, cause: nameOf(error) });
      return [];
    }
  }

  #launch(state: State, rows: AttemptRows): void {
    const { rate, onFree, onEnded } = this.#parts;
    const ids = [...rows.map(({ id }) => id), ...rows[0].members];
    rate?.take();
    const free = (isSent: boolean) => {
      if (!isSent) rate?.giveBack();
      flight.isBusy = false;
      onFree();
    };
    const flight: Flight = { state, rows, ids, isBusy: true, ending: Promise.resolve(null) };
    this.#flights.add(flight);
    flight.ending = this.#delivery.deliver(state, rows, free).then((end) => {
      this.#flights.delete(flight);
      onEnded(state, ids, end);
      onFree();
      return end;
    });
  }
}

/** Whether a row may be in a digest. */
function isDigestible({ sent, alert }: DueRow): boolean {
  return sent === null && priorityOf(alert) > 0;
}
