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
} from "../state/state.ts";
import type { Attempt, AttemptResult, Ending } from "./attempt.ts";
import { backoffMs } from "./backoff.ts";

/** What a lane works with; `bucket` is absent where the peer's own answers set the pace. */
export type SenderDependencies = {
  kind: OutboxKind;
  state: Pick<State, "due" | "settle">;
  attempt: Attempt;
  places: number;
  bucket?: TokenBucket;
  metrics: WebhookMetrics;
  log: Log;
  monotonicMs: () => number;
  random: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Told when a place has become free. */
  onFree: () => void;
};

/** Failures of a peer in a row after which the next ones wait for it too, instead of failing one by one. */
const FAILURES_BEFORE_PAUSE = 3;
/** Alerts must not wait much longer than the peer's return takes. */
const LONGEST_PAUSE_MS = 30_000;
const SETTLE_AGAIN_MS = 1_000;

/**
 * One kind of delivery on its way: a few places, a pace, and what the peer has said lately.
 *
 * Shape: `pump` starts what may start now and resolves when that is under way; `inFlight` is how a started row ends.
 *        A row whose result cannot be recorded keeps its place until it is: sent again would be one message too many.
 */
export class Sender {
  readonly #dependencies: SenderDependencies;
  readonly #flights = new Map<number, { fingerprint: string; ending: Promise<Ending> }>();
  readonly #giveUp = new AbortController();
  #isOpen = true;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #hold: string | null = null;
  /** When the 24 hours of every row began anew: at the start of this process, or when it was last held. */
  #countsFromMs: number;
  #pumping: Promise<void> | null = null;
  #pumpAgain = false;

  constructor(dependencies: SenderDependencies) {
    this.#dependencies = dependencies;
    this.#countsFromMs = dependencies.monotonicMs();
  }

  /** The code for which everything waits, or null. */
  get hold(): string | null {
    return this.#hold;
  }

  /** How many rows could start now. */
  get startable(): number {
    const nowMs = this.#dependencies.monotonicMs();
    if (!this.#isOpen || nowMs < this.#pausedUntilMs) return 0;
    const free = this.#dependencies.places - this.#flights.size;
    // Held, one row at a time finds out whether the peer still refuses.
    if (this.#hold !== null) return this.#flights.size === 0 ? Math.min(1, this.#paced(nowMs)) : 0;
    return Math.min(free, this.#paced(nowMs));
  }

  inFlight(row: number): Promise<Ending> | null {
    return this.#flights.get(row)?.ending ?? null;
  }

  isCarrying(fingerprint: string): boolean {
    return [...this.#flights.values()].some((flight) => flight.fingerprint === fingerprint);
  }

  /** Starts what may start; `mayStart` can keep a row for later. */
  pump(
    query: Pick<DueQuery, "issueGraceMs">,
    mayStart: (row: DueRow) => boolean = () => true,
  ): Promise<void> {
    this.#pumpAgain = true;
    this.#pumping ??= this.#pump(query, mayStart).finally(() => {
      this.#pumping = null;
      // Somebody may have come in the very instant in which it ended.
      return this.#pumpAgain ? this.pump(query, mayStart) : undefined;
    });
    return this.#pumping;
  }

  /** Starts nothing more, waits for what is on its way, and gives the rest up after `graceMs`. */
  async stop(graceMs: number): Promise<void> {
    this.#isOpen = false;
    const flights = [...this.#flights.values()].map(({ ending }) => ending);
    if (flights.length === 0) return;
    const timer = setTimeout(() => this.#giveUp.abort(), graceMs);
    await Promise.all(flights);
    clearTimeout(timer);
  }

  #paced(nowMs: number): number {
    return this.#dependencies.bucket?.available(nowMs) ?? Number.POSITIVE_INFINITY;
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
    const ending = this.#carry(row).finally(() => {
      this.#flights.delete(row.id);
      this.#dependencies.onFree();
    });
    this.#flights.set(row.id, { fingerprint: row.alert.fingerprint, ending });
  }

  async #carry(row: DueRow): Promise<Ending> {
    const { monotonicMs, metrics, kind } = this.#dependencies;
    const startedMs = monotonicMs();
    const result = await this.#try(row);
    const ageMs = row.ageMs + (monotonicMs() - startedMs);
    const settlement = this.#settlementOf(row, result, ageMs);
    if (!(await this.#record(row, settlement))) return "unsettled";
    this.#report(row, settlement, result);
    if (settlement.status === "delivered") metrics.sent(kind, ageMs);
    return settlement.status === "retry" ? "failed" : settlement.status;
  }

  /** One attempt; a row that no text can be made of is given up, for it must not take the service down with it. */
  async #try(row: DueRow): Promise<AttemptResult> {
    const { attempt, log, kind } = this.#dependencies;
    try {
      const result = await attempt(row, this.#giveUp.signal);
      this.#heed(result);
      return result;
    } catch (error) {
      const cause = error instanceof Error ? error.name : typeof error;
      log.error("An alert in the state cannot be used", { kind, row: row.id, cause });
      return { status: "refused", code: "alert_unreadable" };
    }
  }

  /** What the peer's answer means for everything behind this row. */
  #heed(result: AttemptResult): void {
    const { monotonicMs, random, log, kind } = this.#dependencies;
    if (result.status !== "failed") {
      if (this.#hold !== null) log.info("The peer takes alerts again", { kind });
      this.#hold = null;
      this.#failures = 0;
      return;
    }
    if (result.holds) {
      // A new reason is told, too: what mends it is another thing.
      if (this.#hold !== result.code)
        log.error("The peer refuses us: its alerts wait", holdFacts(kind, result));
      this.#hold = result.code;
      this.#countsFromMs = monotonicMs();
    } else if (!result.peerDown) this.#hold = null;
    if (!result.holds && !result.peerDown && result.retryAfterMs === null) return;
    this.#failures += 1;
    const own = result.holds ? this.#failures : this.#failures - FAILURES_BEFORE_PAUSE + 1;
    const pauseMs = own < 1 ? 0 : Math.min(backoffMs(own, random), LONGEST_PAUSE_MS);
    const untilMs = monotonicMs() + Math.max(pauseMs, result.retryAfterMs ?? 0);
    // What was already on its way must not cut short the patience that an earlier answer asked for.
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }

  #settlementOf(row: DueRow, result: AttemptResult, ageMs: number): Settlement {
    if (result.status === "delivered")
      return { status: "delivered", reference: result.reference, url: result.url };
    if (result.status === "refused") return { status: "dead", code: result.code };
    if (this.#isOver(row, ageMs)) return { status: "dead", code: result.code };
    const delayMs = result.holds
      ? 0
      : Math.max(backoffMs(row.attempts + 1, this.#dependencies.random), result.retryAfterMs ?? 0);
    return { status: "retry", delayMs, code: result.code };
  }

  /**
   * Older than 24 hours, not counting the time on hold, nor that before the first attempt or the start of this process:
   * nothing tells how much of it was a hold.
   */
  #isOver({ attempts }: DueRow, ageMs: number): boolean {
    const triedMs = this.#dependencies.monotonicMs() - this.#countsFromMs;
    return attempts > 0 && Math.min(ageMs, triedMs) >= GIVE_UP_MS;
  }

  /** Whether the result is on disk; tries until it is, or until the service gives up. */
  async #record(row: DueRow, settlement: Settlement): Promise<boolean> {
    const { state, log, kind, sleep } = this.#dependencies;
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
        await sleep(SETTLE_AGAIN_MS, this.#giveUp.signal).catch(() => {});
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
    const why = result.status === "failed" ? { code, cause: result.cause } : { code };
    metrics.failed(kind, code);
    if (settlement.status === "retry") {
      log.warn("An alert could not be delivered yet", { ...facts, ...why, againInMs: settlement.delayMs });
      return;
    }
    metrics.dead(kind);
    log.error("Gave an alert up; see opsctl webhook dead list", { ...facts, ...why });
  }
}

function holdFacts(kind: OutboxKind, { code, cause }: { code: string; cause?: string | undefined }) {
  return { kind, code, cause, hint: "opsctl doctor webhook says what to do" };
}
