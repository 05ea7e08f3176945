import type { Log } from "./log.ts";

/** How often a failure that goes on is told again. */
const AGAIN_MS = 5 * 60_000;

/**
 * What is logged of a failure that comes again and again.
 *
 * Shape: `over` is absent where what works now says nothing of what failed; `level` is `error` unless told otherwise.
 */
export type OutageLogOptions = {
  log: Pick<Log, "error" | "warn" | "info">;
  problem: string;
  over?: string;
  level?: "error" | "warn";
  monotonicMs: () => number;
};

/**
 * Logs a failure that comes again and again: at once, then every five minutes with how often it came, and when it is
 * over.
 */
export class OutageLog {
  readonly #options: OutageLogOptions;
  #toldAtMs: number | null = null;
  #times = 0;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  /** It failed: `facts` are those of this time. */
  failed(facts: Record<string, unknown>): void {
    const { log, problem, level = "error", monotonicMs } = this.#options;
    const now = monotonicMs();
    const isFirst = this.#toldAtMs === null;
    this.#times += 1;
    if (this.#toldAtMs !== null && now - this.#toldAtMs < AGAIN_MS) return;
    this.#toldAtMs = now;
    log[level](problem, isFirst ? facts : { ...facts, times: this.#times });
  }

  /** It worked. */
  worked(): void {
    if (this.#toldAtMs === null) return;
    const { log, over } = this.#options;
    if (over !== undefined) log.info(over, { times: this.#times });
    this.#toldAtMs = null;
    this.#times = 0;
  }
}
