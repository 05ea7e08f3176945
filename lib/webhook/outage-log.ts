import type { Log } from "../platform/log/log.ts";

const AGAIN_MS = 5 * 60_000;

/** `over` is absent where what works now says nothing of what failed; `level` is `error` by default. */
export type OutageLogOptions = {
  log: Pick<Log, "error" | "warn" | "info">;
  problem: string;
  over?: string;
  level?: "error" | "warn";
  monotonicMs: () => number;
};

/** Logs a failure that comes again and again: at once, then every five minutes with its count, and when it is over. */
export class OutageLog {
  readonly #options: OutageLogOptions;
  #loggedAtMs: number | null = null;
  #times = 0;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  failed(facts: Record<string, unknown>): void {
    const { log, problem, level = "error", monotonicMs } = this.#options;
    this.#times += 1;
    if (this.#loggedAtMs !== null && monotonicMs() - this.#loggedAtMs < AGAIN_MS) return;
    log[level](problem, this.#loggedAtMs === null ? facts : { ...facts, times: this.#times });
    this.#loggedAtMs = monotonicMs();
  }

  worked(): void {
    const { log, over } = this.#options;
    if (this.#loggedAtMs !== null && over !== undefined) log.info(over, { times: this.#times });
    this.#loggedAtMs = null;
    this.#times = 0;
  }
}
