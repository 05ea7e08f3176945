import type { Log } from "../../platform/log/log.ts";

/**
 * Logs that alerts are refused, and that they are accepted again: once each, not for each of thousands of requests.
 *
 * Shape: `problem` is the message while they are refused.
 */
export class RefusalLog {
  readonly #log: Log;
  readonly #problem: string;
  #isRefusing = false;

  constructor(log: Log, problem: string) {
    this.#log = log;
    this.#problem = problem;
  }

  refused(cause: unknown): void {
    if (!this.#isRefusing) this.#log.error(this.#problem, { cause });
    this.#isRefusing = true;
  }

  accepted(): void {
    if (this.#isRefusing) this.#log.info("Alerts are accepted again");
    this.#isRefusing = false;
  }
}
