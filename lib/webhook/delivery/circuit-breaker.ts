import type { OutboxKind } from "../store/model.ts";
import type { AttemptResult, Retry } from "./attempt.ts";
import { backoffMs } from "./backoff.ts";
import type { DispatcherParts } from "./parts.ts";

/** Failures of the service in a row after which one row at a time is tried. */
const MOST_FAILURES = 3;
const LONGEST_FAILURE_PAUSE_MS = 10_000;
/** How often a lane finds out, with one row, whether the service still refuses our account. */
const LONGEST_ACCOUNT_PAUSE_MS = 60_000;
/** The watch pauses a lane again every few seconds while it has to be: only when that ends does a row find out. */
const PAUSED_FROM_OUTSIDE_MS = 90_000;

/** Why a lane is paused. */
export type PauseReason = Pick<Retry, "code" | "cause">;

type BreakerParts = Pick<DispatcherParts, "log" | "monotonicMs" | "random"> & {
  kind: OutboxKind;
  keepPause: (kind: OutboxKind, code: string | null) => void;
};

/**
 * The circuit breaker of a lane: what the latest answers of its external service mean for every row.
 *
 * Shape:     `isOpen`: nothing may start now. `isHalfOpen`: one row at a time finds out. `pausedBy` is the code for
 *            which the service takes nothing from us, or null.
 * Behaviour: failures of the service open it for ten seconds at most, a refusal of our account for a minute; another
 *            failure makes the time no shorter that the service asked for. A row that is delivered, or that fails for a
 *            reason of its own, closes it.
 */
export class CircuitBreaker {
  readonly #parts: BreakerParts;
  #openUntilMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #pausedBy: string | null = null;

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  get pausedBy(): string | null {
    return this.#pausedBy;
  }

  get isOpen(): boolean {
    return this.#parts.monotonicMs() < this.#openUntilMs;
  }

  get isHalfOpen(): boolean {
    return this.#pausedBy !== null || this.#failures >= MOST_FAILURES;
  }

  /** Learns from how an attempt ended, or from a look-up that failed. */
  observe(result: AttemptResult): void {
    if (result.status !== "retry" || result.fault === "row") this.#close();
    else {
      this.#failures += 1;
      const isAccount = result.fault === "account";
      if (isAccount) this.#pauseFor(result);
      const counted = isAccount ? this.#failures : this.#failures - MOST_FAILURES + 1;
      const longestMs = isAccount ? LONGEST_ACCOUNT_PAUSE_MS : LONGEST_FAILURE_PAUSE_MS;
      const pauseMs = counted < 1 ? 0 : Math.min(backoffMs(counted, this.#parts.random), longestMs);
      this.#openFor(Math.max(pauseMs, result.retryAfterMs ?? 0));
    }
  }

  /** Takes up why an earlier process was paused; the next row finds out at once. */
  recall(code: string | null): void {
    this.#pausedBy = code;
    if (code !== null) this.probe();
  }

  /** Pauses for what was learnt without a row. */
  pause(reason: PauseReason): void {
    this.#pauseFor(reason);
    this.#openFor(PAUSED_FROM_OUTSIDE_MS);
  }

  /** The service is known to take rows. */
  resume(): void {
    this.#close();
    this.probe();
  }

  /** Something was changed that may be the remedy: the next row finds out at once. */
  probe(): void {
    this.#openUntilMs = Number.NEGATIVE_INFINITY;
  }

  #close(): void {
    this.#failures = 0;
    if (this.#pausedBy === null) return;
    this.#pausedBy = null;
    this.probe();
    this.#parts.log.info("Sending resumed", { kind: this.#parts.kind });
    this.#parts.keepPause(this.#parts.kind, null);
  }

  /** Logged once for each code: another one needs another remedy. */
  #pauseFor({ code, cause }: PauseReason): void {
    const { log, kind, keepPause } = this.#parts;
    const hint = "opsctl doctor webhook says what to do";
    if (this.#pausedBy !== code)
      log.error("Sending paused: the external service refuses us", { kind, code, cause, hint });
    this.#pausedBy = code;
    keepPause(kind, code);
  }

  #openFor(ms: number): void {
    this.#openUntilMs = Math.max(this.#openUntilMs, this.#parts.monotonicMs() + ms);
  }
}
