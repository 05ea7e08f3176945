import type { Log } from "../../platform/log/log.ts";
import type { OutboxKind } from "../state/contract.ts";
import type { AttemptResult, Retry } from "./attempt.ts";
import { backoffMs } from "./backoff.ts";

/** Failures in a row after which the channel pauses, so that the next rows do not fail one by one. */
const FAILURES_BEFORE_PAUSE = 3;
/** Alerts must not wait much longer than it takes the peer to come back. */
const LONGEST_PAUSE_MS = 30_000;

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
 * Behaviour: a stop ends when the peer accepts a row, or refuses one for a reason of that row alone.
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

  /** How long ago this process started, or the channel was last found stopped. */
  get openMs(): number {
    return this.#dependencies.monotonicMs() - this.#openSinceMs;
  }

  /** Learns from how an attempt ended. */
  observe(result: AttemptResult): void {
    if (result.status !== "retry") {
      this.#reopen();
      return;
    }
    const { stopsChannel, peerDown, retryAfterMs } = result;
    if (stopsChannel) this.#stop(result);
    else if (!peerDown) this.#stoppedBy = null;
    if (stopsChannel || peerDown || retryAfterMs !== null) this.#pause(result);
  }

  #reopen(): void {
    const { log, kind } = this.#dependencies;
    if (this.#stoppedBy !== null) log.info("The peer takes alerts again", { kind });
    this.#stoppedBy = null;
    this.#failures = 0;
  }

  #stop({ code, cause }: Retry): void {
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
    const pauseMs = counted < 1 ? 0 : Math.min(backoffMs(counted, random), LONGEST_PAUSE_MS);
    const untilMs = monotonicMs() + Math.max(pauseMs, retryAfterMs ?? 0);
    // An attempt that began before must not shorten the pause that the peer asked for.
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
  }
}
