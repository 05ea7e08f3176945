import type { OutboxLimits } from "./model.ts";
import type { Sql } from "./sql.ts";

const REFRESH_MS = 5_000;
/** This share of both limits is for requests with a critical alert. */
const CRITICAL_SHARE = 10;

/** How many rows and bytes wait. */
export type Amount = { rows: number; bytes: number };

/**
 * How much waits in the outbox.
 *
 * Behaviour: read from the store every five seconds; what this process accepts in between is added, what ends is not.
 */
export class Load {
  readonly #limits: OutboxLimits;
  #waiting: Amount = { rows: 0, bytes: 0 };
  #readAtMs: number | null = null;

  constructor(limits: OutboxLimits) {
    this.#limits = limits;
  }

  /** Reads the store when the numbers are old, or the clock was set back. */
  async refresh(sql: Sql, nowMs: number): Promise<void> {
    if (this.#readAtMs !== null && Math.abs(nowMs - this.#readAtMs) < REFRESH_MS) return;
    const [row] = await sql.all(
      "select count(*) as count, coalesce(sum(bytes), 0) as bytes from {outbox} where state = 'queued'",
    );
    this.#waiting = { rows: Number(row!.count), bytes: Number(row!.bytes) };
    this.#readAtMs = nowMs;
  }

  /** Whether so much more keeps within the limits. */
  takes(more: Amount, { isCritical }: { isCritical: boolean }): boolean {
    const most = (limit: number) => (isCritical ? limit : limit - Math.floor(limit / CRITICAL_SHARE));
    const { rows, bytes } = this.#waiting;
    return rows + more.rows <= most(this.#limits.rows) && bytes + more.bytes <= most(this.#limits.bytes);
  }

  add(more: Amount): void {
    this.#waiting.rows += more.rows;
    this.#waiting.bytes += more.bytes;
  }
}
