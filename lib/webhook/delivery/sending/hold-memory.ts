import type { Log } from "../../../platform/log/log.ts";
import { OutageLog } from "../../../platform/log/outage-log.ts";
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
  #recording: { code: string | null; ending: Promise<void> } | null = null;

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
    const underWay = this.#recording;
    if (underWay !== null)
      return underWay.code === code ? underWay.ending : underWay.ending.then(() => this.note(code));
    if (code === this.#recorded) return Promise.resolve();
    const ending = this.#record(code).finally(() => {
      this.#recording = null;
    });
    this.#recording = { code, ending };
    return ending;
  }

  async #record(code: string | null): Promise<void> {
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
