import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { OutboxLimits } from "../../contract.ts";

const REFRESH_MS = 5_000;
/** This share of both limits is for requests with a critical alert. */
const CRITICAL_SHARE = 10;

/**
 * How many rows and bytes wait in the outbox.
 *
 * Behaviour: counted in memory, and read from the file every few seconds, because other processes write to it too.
 */
export class Load {
  readonly #limits: OutboxLimits;
  readonly #count: StatementSync;
  #rows = 0;
  #bytes = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: DatabaseSync, limits: OutboxLimits) {
    this.#limits = limits;
    this.#count = db.prepare(
      "select count(*) as n, coalesce(sum(bytes), 0) as bytes from outbox where state = 'queued'",
    );
  }

  /** Reads the file when the numbers are older than five seconds, or the clock was set back. */
  refresh(nowMs: number): void {
    if (Math.abs(nowMs - this.#readAtMs) < REFRESH_MS) return;
    const { n, bytes } = this.#count.get() as { n: number; bytes: number };
    this.#rows = n;
    this.#bytes = bytes;
    this.#readAtMs = nowMs;
  }

  /** Makes the next `refresh` read the file: after a rollback the numbers in memory are wrong. */
  forget(): void {
    this.#readAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Whether so many more rows and bytes keep within the limits; the last tenth is for a critical alert's request. */
  takes(rows: number, bytes: number, { isCritical }: { isCritical: boolean }): boolean {
    const most = (limit: number) => (isCritical ? limit : limit - Math.floor(limit / CRITICAL_SHARE));
    return this.#rows + rows <= most(this.#limits.rows) && this.#bytes + bytes <= most(this.#limits.bytes);
  }

  add(rows: number, bytes: number): void {
    this.#rows += rows;
    this.#bytes += bytes;
  }
}
