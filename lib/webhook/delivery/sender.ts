import type { Log } from "../../platform/log/log.ts";
import type { TokenBucket } from "../../platform/rate/token-bucket.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import {
  type DueQuery,
  type DueRow,
  GIVE_UP_MS,
  type OutboxKind,
  type Settlement,
  type State,
} from "../state/contract.ts";
import type { Attempt, AttemptResult } from "./attempt.ts";
import { backoffMs } from "./backoff.ts";
import { Channel } from "./channel.ts";

/** What a sender works with; `bucket` is absent where the peer's own answers set the pace. */
export type SenderDependencies = {
  kind: OutboxKind;
  state: Pick<State, "due" | "begin" | "settle">;
  attempt: Attempt;
  /** The text that the first attempt of a row sends, and every other one. */
  textOf: (row: DueRow) => string;
  /** How many rows may be on their way at once. */
  concurrency: number;
  bucket?: TokenBucket;
  metrics: WebhookMetrics;
  log: Log;
  monotonicMs: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called when a row has ended, so that another may start. */
  onFree: () => void;
};

const RECORD_AGAIN_MS = 1_000;
const UNREADABLE = { status: "refused", code: "alert_unreadable" } as const;

/**
 * Delivers the rows of one kind, a few at once.
 *
 * Shape:     `inFlight` resolves to how the row was settled, or to null when the service stopped before that was
 *            recorded; it is null for a row that is not on its way.
 * Behaviour: `pump` starts the rows that may start now and resolves when they are on their way. A row stays on its way
 *            until its result is recorded: sent again, it would be one message too many.
 */
export class Sender {
  readonly #dependencies: SenderDependencies;
  readonly #channel: Channel;
  readonly #flights = new Map<number, { fingerprint: string; ending: Promise<Settlement | null> }>();
  readonly #giveUp = new AbortController();
  /** When this process tried each row last. */
  readonly #triedAtMs = new Map<number, number>();
  #isOpen = true;
  #pumping: Promise<void> | null = null;
  #pumpAgain = false;

  constructor(dependencies: SenderDependencies) {
    this.#dependencies = dependencies;
    this.#channel = new Channel(dependencies);
  }

  /** The code of the refusal for which every row waits, or null. */
  get stoppedBy(): string | null {
    return this.#channel.stoppedBy;
  }

  /** How many rows could start now. */
  get startable(): number {
    if (!this.#isOpen || this.#channel.isPaused) return 0;
    const { concurrency, bucket, monotonicMs } = this.#dependencies;
    const paced = bucket?.available(monotonicMs()) ?? Number.POSITIVE_INFINITY;
    // While the channel is stopped, one row at a time finds out whether the peer still refuses.
    if (this.stoppedBy !== null) return this.#flights.size === 0 ? Math.min(1, paced) : 0;
    return Math.min(concurrency - this.#flights.size, paced);
  }

  inFlight(row: number): Promise<Settlement | null> | null {
    return this.#flights.get(row)?.ending ?? null;
  }

  isSending(fingerprint: string): boolean {
    return [...this.#flights.values()].some((flight) => flight.fingerprint === fingerprint);
  }

  /** Starts the rows that may start now; a row for which `mayStart` returns false is left for later. */
  pump(
    query: Pick<DueQuery, "issueGraceMs">,
    mayStart: (row: DueRow) => boolean = () => true,
  ): Promise<void> {
    this.#pumpAgain = true;
    this.#pumping ??= this.#pump(query, mayStart).finally(() => {
      this.#pumping = null;
      // A call may have come between the last look and this line.
      return this.#pumpAgain ? this.pump(query, mayStart) : undefined;
    });
    return this.#pumping;
  }

  /** Starts nothing more and waits for the rows on their way; after `graceMs` they are given up. */
  async stop(graceMs: number): Promise<void> {
    this.#isOpen = false;
    const flights = [...this.#flights.values()].map(({ ending }) => ending);
    if (flights.length === 0) return;
    const timer = setTimeout(() => this.#giveUp.abort(), graceMs);
    await Promise.all(flights);
    clearTimeout(timer);
  }

  async #pump(
    { issueGraceMs }: Pick<DueQuery, "issueGraceMs">,
    mayStart: (row: DueRow) => boolean,
  ): Promise<void> {
    const { kind, state } = this.#dependencies;
    while (this.#pumpAgain) {
      this.#pumpAgain = false;
      const limit = this.startable;
      if (limit === 0) return;
      const rows = await state.due(kind, { limit, except: [...this.#flights.keys()], issueGraceMs });
      for (const row of rows) if (mayStart(row) && this.startable > 0) this.#start(row);
    }
  }

  #start(row: DueRow): void {
    this.#dependencies.bucket?.take(this.#dependencies.monotonicMs());
    const ending = this.#deliver(row).finally(() => {
      this.#flights.delete(row.id);
      this.#dependencies.onFree();
    });
    this.#flights.set(row.id, { fingerprint: row.alert.fingerprint, ending });
  }

  async #deliver(row: DueRow): Promise<Settlement | null> {
    const { monotonicMs, metrics, kind } = this.#dependencies;
    const startedMs = monotonicMs();
    const text = this.#textOf(row);
    if (text !== null && !(await this.#begin(row, text))) return null;
    const result = text === null ? UNREADABLE : await this.#try({ ...row, text });
    const ageMs = row.waitedMs + (monotonicMs() - startedMs);
    const settlement = this.#settlementOf(row, result, this.#triedMs(row));
    if (!(await this.#record(row, settlement))) return null;
    this.#report(row, settlement, result);
    if (settlement.status === "delivered") metrics.sent(kind, ageMs);
    return settlement;
  }

  /** The text that every attempt of a row sends; null when none can be made. */
  #textOf(row: DueRow): string | null {
    const { textOf, log, kind } = this.#dependencies;
    try {
      return row.text ?? textOf(row);
    } catch (error) {
      const cause = error instanceof Error ? error.name : typeof error;
      log.error("An alert in the state cannot be used", { kind, row: row.id, cause });
      return null;
    }
  }

  /** Records that the attempt begins; false when it must not, or when that could not be recorded. */
  async #begin(row: DueRow, text: string): Promise<boolean> {
    const { state, log, kind, sleep } = this.#dependencies;
    try {
      return await state.begin(row.id, row.text === null ? { text } : null);
    } catch (error) {
      const cause = error instanceof Error ? error.name : typeof error;
      log.error("An attempt cannot be recorded, so it is not made", { kind, row: row.id, cause });
      // Free again at once, the same row would be looked for without an end.
      await sleep(RECORD_AGAIN_MS, this.#giveUp.signal).catch(() => {});
      return false;
    }
  }

  /**
   * For how long a row was tried, this attempt included.
   *
   * Behaviour: the time from one attempt to the next counts when both are this process's, and no further back than to
   *            where the channel was last found stopped.
   */
  #triedMs({ id, triedMs }: DueRow): number {
    const now = this.#dependencies.monotonicMs();
    const since = this.#triedAtMs.get(id) ?? now;
    this.#triedAtMs.set(id, now);
    return triedMs + Math.min(now - since, this.#channel.openMs);
  }

  /** One attempt; a row of which no text can be made is refused, so that it does not end the service. */
  async #try(row: DueRow): Promise<AttemptResult> {
    const { attempt, log, kind } = this.#dependencies;
    try {
      const result = await attempt(row, this.#giveUp.signal);
      this.#channel.observe(result);
      return result;
    } catch (error) {
      const cause = error instanceof Error ? error.name : typeof error;
      log.error("An alert in the state cannot be used", { kind, row: row.id, cause });
      return UNREADABLE;
    }
  }

  #settlementOf(row: DueRow, result: AttemptResult, triedMs: number): Settlement {
    if (result.status === "delivered") return result;
    const { code } = result;
    if (result.status === "refused" || triedMs >= GIVE_UP_MS) return { status: "dead", code };
    const delayMs = result.stopsChannel
      ? 0
      : Math.max(backoffMs(row.attempts + 1, this.#dependencies.random), result.retryAfterMs ?? 0);
    return { status: "retry", delayMs, code, triedMs, isUnclear: false };
  }

  /** Records a result, again and again until it is on disk; false when the service stopped before that. */
  async #record(row: DueRow, settlement: Settlement): Promise<boolean> {
    const { state, log, kind, sleep } = this.#dependencies;
    if (settlement.status !== "retry") this.#triedAtMs.delete(row.id);
    for (let tries = 1; ; tries += 1) {
      try {
        await state.settle(row.id, settlement);
        return true;
      } catch (error) {
        if (tries === 1) {
          const cause = error instanceof Error ? error.name : typeof error;
          log.error("The result of a delivery cannot be recorded yet", {
            kind,
            row: row.id,
            result: settlement.status,
            cause,
          });
        }
        if (!this.#isOpen || this.#giveUp.signal.aborted) return false;
        await sleep(RECORD_AGAIN_MS, this.#giveUp.signal).catch(() => {});
      }
    }
  }

  #report(row: DueRow, settlement: Settlement, result: AttemptResult): void {
    const { log, metrics, kind } = this.#dependencies;
    const facts = { kind, row: row.id, fingerprint: row.alert.fingerprint, attempt: row.attempts + 1 };
    if (settlement.status === "delivered") {
      log.info("Delivered an alert", facts);
      return;
    }
    const { code } = settlement;
    const why = result.status === "retry" ? { code, cause: result.cause } : { code };
    metrics.failed(kind, code);
    if (settlement.status === "retry") {
      log.warn("An alert could not be delivered yet", { ...facts, ...why, againInMs: settlement.delayMs });
      return;
    }
    metrics.dead(kind);
    log.error("Gave an alert up; see opsctl webhook dead list", { ...facts, ...why });
  }
}
