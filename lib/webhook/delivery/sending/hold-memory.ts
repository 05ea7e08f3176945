import type { Log } from "../../../platform/log/log.ts";
import { OutageLog } from "../../outage-log.ts";
import type { OutboxKind, State } from "../../state/contract.ts";

/**
 * Keeps in the state why a channel holds, for the next process.
 *
 * Behaviour: `note` may be called often, also while another code is being recorded; what could not be recorded is
 *            recorded by a later call.
 */
export class HoldMemory {
  readonly #kind: OutboxKind;
  readonly #state: Pick<State, "hold">;
  readonly #outage: OutageLog;
  /** Undefined while it is not known what the state has. */
  #recorded: string | null | undefined = undefined;
  #wanted: string | null = null;
  #recording: Promise<void> | null = null;

  constructor(dependencies: {
    kind: OutboxKind;
    state: Pick<State, "hold">;
    log: Log;
    monotonicMs: () => number;
  }) {
    this.#kind = dependencies.kind;
    this.#state = dependencies.state;
    this.#outage = new OutageLog({
      ...dependencies,
      level: "warn",
      problem: "Why alerts wait cannot be recorded yet",
      over: "Why alerts wait is recorded again",
    });
  }

  /** Says what the state has. */
  recall(code: string | null): void {
    this.#recorded = code;
  }

  /** Records the code for which the channel is stopped, or null, unless the state has it. */
  note(code: string | null): Promise<void> {
    this.#wanted = code;
    if (this.#recording === null && code === this.#recorded) return Promise.resolve();
    this.#recording ??= this.#record();
    return this.#recording;
  }

  /** Records what is wanted, again when that changes meanwhile. */
  async #record(): Promise<void> {
    for (let tried: string | null | undefined; this.#wanted !== tried; ) {
      tried = this.#wanted;
      await this.#recordOne(tried);
    }
    // Nothing is awaited between the last look and this line.
    this.#recording = null;
  }

  async #recordOne(code: string | null): Promise<void> {
    if (code === this.#recorded) return;
    try {
      await this.#state.hold(this.#kind, code);
      this.#recorded = code;
      this.#outage.worked();
    } catch (error) {
      const cause = error instanceof Error ? error.name : typeof error;
      this.#outage.failed({ kind: this.#kind, cause });
    }
  }
}
