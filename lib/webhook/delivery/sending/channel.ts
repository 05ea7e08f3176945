import type { Log } from "../../../platform/log/log.ts";
import type { OutboxKind } from "../../state/contract.ts";
import type { AttemptResult, Retry } from "../attempts/attempt.ts";
import { backoffMs } from "./backoff.ts";

/** Failures in a row after which the channel pauses, so that the next rows do not fail one by one. */
const FAILURES_BEFORE_PAUSE = 3;
/** Alerts must not wait much longer than it takes the peer to come back. */
const LONGEST_PAUSE_MS = 30_000;
/** How often a stopped channel finds out, with one row, whether the peer still refuses. */
const LONGEST_STOPPED_PAUSE_MS = 60_000;
/** One that is held asks its peer every minute and holds again: only when that fails does a row find out. */
const HELD_MS = 90_000;

/** What a channel works with. */
export type ChannelDependencies = {
  kind: OutboxKind;
  log: Log;
  monotonicMs: () => number;
  random: () => number;
};

/**
 * What a peer's latest answers mean for every row that goes to it: a pause after failures, a stop after a refusal.
 *
 * Shape:     `stoppedBy` is the code of the refusal for which every row waits, or null.
 * Behaviour: a stop ends when the peer accepts a row, or refuses one for a reason of that row alone, and when it is
 *            opened from outside.
 */
export class Channel {
  readonly #dependencies: ChannelDependencies;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #stoppedBy: string | null = null;
  #openSinceMs: number;

  constructor(dependencies: ChannelDependencies) {
    this.#dependencies = dependencies;
    this.#openSinceMs = dependencies.monotonicMs();
  }

  get stoppedBy(): string | null {
    return this.#stoppedBy;
  }

  get isPaused(): boolean {
    return this.#dependencies.monotonicMs() < this.#pausedUntilMs;
  }

  /** Whether one row at a time finds out about the peer: it refuses us, or failed several times in a row. */
  get isProbing(): boolean {
    return this.#stoppedBy !== null || this.#failures >= FAILURES_BEFORE_PAUSE;
  }

  /** When this process started, or the channel was last found stopped. */
  get openSinceMs(): number {
    return this.#openSinceMs;
  }

  /** Learns from how an attempt ended. */
  observe(result: AttemptResult): void {
    if (result.status !== "retry") {
      this.#reopen();
      return;
    }
    const { stopsChannel, peerDown, retryAfterMs } = result;
    if (stopsChannel) this.#stop(result);
    else if (!peerDown) this.#reopen();
    if (stopsChannel || peerDown || retryAfterMs !== null) this.#pause(result);
  }

  /** Takes up what an earlier process learnt: the next row finds out at once whether the peer still refuses. */
  recall(code: string | null): void {
    this.#stoppedBy = code;
    this.#openSinceMs = this.#dependencies.monotonicMs();
  }

  /** Stops the channel for what was learnt otherwise, for so long as that is said again every minute. */
  hold({ code, cause }: { code: string; cause?: string | undefined }): void {
    this.#stop({ code, cause });
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#dependencies.monotonicMs() + HELD_MS);
  }

  /** Opens the channel: the peer is known to take alerts. */
  open(): void {
    this.#reopen();
    this.probe();
  }

  /** Ends a pause: something was mended, perhaps this. */
  probe(): void {
    this.#pausedUntilMs = Number.NEGATIVE_INFINITY;
  }

  #reopen(): void {
    const { log, kind, monotonicMs } = this.#dependencies;
    this.#failures = 0;
    if (this.#stoppedBy === null) return;
    log.info("The peer takes alerts again", { kind });
    this.#stoppedBy = null;
    this.#openSinceMs = monotonicMs();
  }

  #stop({ code, cause }: Pick<Retry, "code" | "cause">): void {
    const { log, kind, monotonicMs } = this.#dependencies;
    // Told again when the reason changes: another reason needs another mend.
    if (this.#stoppedBy !== code) {
      const hint = "opsctl doctor webhook says what to do";
      log.error("The peer refuses us: its alerts wait", { kind, code, cause, hint });
    }
    this.#stoppedBy = code;
    this.#openSinceMs = monotonicMs();
  }

  #pause({ stopsChannel, retryAfterMs }: Retry): void {
    const { monotonicMs, random } = this.#dependencies;
    this.#failures += 1;
    const counted = stopsChannel ? this.#failures : this.#failures - FAILURES_BEFORE_PAUSE + 1;
    const longestMs = stopsChannel ? LONGEST_STOPPED_PAUSE_MS : LONGEST_PAUSE_MS;
    const pauseMs = counted < 1 ? 0 : Math.min(backoffMs(counted, random), longestMs);
    const untilMs = monotonicMs() + Math.max(pauseMs, retryAfterMs ?? 0);
    // An attempt that began before must not shorten the pause that the peer asked for.
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }
}
