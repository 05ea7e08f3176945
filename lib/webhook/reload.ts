import { OpsError } from "../platform/errors.ts";
import type { Log } from "../platform/log/log.ts";

/** What a reload does, in this order. */
export type ReloadSteps<T> = {
  /** Reads and checks the settings; nothing that is in force changes. */
  load: () => Promise<T>;
  /** Puts them in force, all at once. */
  apply: (settings: T) => void;
  afterwards: () => void;
};

/**
 * Reads the settings again each time it is asked to, one reading at a time.
 *
 * Behaviour: what is asked for before `start` is done then, because the settings may have changed after they were first
 *            read; so is what is asked for during a reading. Wrong settings are named in the log and none of them
 *            counts. After `stop` nothing is read or put in force.
 */
export class Reloader<T> {
  readonly #log: Log;
  #steps: ReloadSteps<T> | null = null;
  #isAsked = false;
  #isReading = false;
  #isStopped = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Asks for a reload. */
  request(): void {
    this.#isAsked = true;
    void this.#readWhileAsked();
  }

  /** Begins to reload when asked to. */
  start(steps: ReloadSteps<T>): void {
    this.#steps = steps;
    void this.#readWhileAsked();
  }

  /** Reloads nothing any more. */
  stop(): void {
    this.#isStopped = true;
  }

  async #readWhileAsked(): Promise<void> {
    const steps = this.#steps;
    if (steps === null || this.#isReading) return;
    this.#isReading = true;
    while (this.#isAsked && !this.#isStopped) {
      this.#isAsked = false;
      await this.#readOnce(steps);
    }
    this.#isReading = false;
  }

  async #readOnce({ load, apply, afterwards }: ReloadSteps<T>): Promise<void> {
    try {
      const settings = await load();
      if (this.#isStopped) return;
      apply(settings);
      this.#log.info("The settings were read again and are in force");
      afterwards();
    } catch (error) {
      this.#log.error("The settings were read again and not taken: the old ones stay", faultOf(error));
    }
  }
}

/** What the log says of a reading that failed: every wrong setting by its name, no value. */
function faultOf(error: unknown): Record<string, unknown> {
  if (!(error instanceof OpsError)) return { cause: error instanceof Error ? error.name : typeof error };
  const { code, message, hint } = error;
  return { code, problem: message, ...(hint === undefined ? {} : { hint }) };
}
