import type { MessageStatus } from "../../providers/evolution/message-status.ts";
import type { State } from "../state/contract.ts";

/** Asks what became of the message with this id; never throws. */
export type AskStatus = (id: string, signal: AbortSignal) => Promise<MessageStatus>;

/** What counting the pending messages works with. */
export type PendingDependencies = {
  state: Pick<State, "deliveredBetween">;
  ask: () => AskStatus;
};

/** How old a message is before it should have been acknowledged. */
const PENDING_AFTER_MS = 10 * 60_000;
/** How long a message is looked after; the gateway's phone is seen to be cut off long before. */
const LOOKED_AFTER_MS = 24 * 60 * 60_000;
/** So many questions are put in a round, so that the gateway is not kept busy by them. */
const MOST_ASKED = 50;

/** Statuses of messages that are not on the phone, as far as is known: they are asked about again. */
const NOT_THERE: ReadonlySet<MessageStatus["status"]> = new Set(["pending", "returned"]);

/**
 * Counts the messages that the gateway took and WhatsApp does not acknowledge: sent into a connection that is dead while
 * the gateway believes it open, or given back with an error, as to an account that is restricted.
 *
 * Shape:     `count` is null while it is not known.
 * Behaviour: each message is asked about until it is settled, those that wait longest for their turn first. A message
 *            without an acknowledgement counts only once some message has had one: a gateway that keeps none would show
 *            all of them as pending.
 */
export class PendingMessages {
  readonly #dependencies: PendingDependencies;
  /** What was last heard of each message of the time that is looked after; those never asked about are not in it. */
  #known = new Map<string, MessageStatus["status"]>();
  #keepsAcknowledgements = false;
  #count: number | null = null;

  constructor(dependencies: PendingDependencies) {
    this.#dependencies = dependencies;
  }

  get count(): number | null {
    return this.#count;
  }

  /** Another process sends: it counts. */
  forget(): void {
    this.#count = null;
  }

  /** Asks about some of them and counts. */
  async look(signal: AbortSignal): Promise<void> {
    const { state, ask } = this.#dependencies;
    const ids = await state.deliveredBetween(LOOKED_AFTER_MS, PENDING_AFTER_MS);
    this.#forgetAllBut(ids);
    const isKnown = await this.#askAbout(this.#next(ids), ask(), signal);
    const statuses = [...this.#known.values()];
    this.#keepsAcknowledgements ||= statuses.some((status) => status === "settled" || status === "returned");
    const pending = statuses.filter((status) => NOT_THERE.has(status)).length;
    this.#count = isKnown && this.#keepsAcknowledgements ? pending : null;
  }

  /** A message that is asked about again goes to the end, so the map is in the order of the questions. */
  #next(ids: readonly string[]): string[] {
    const never = ids.filter((id) => !this.#known.has(id));
    const again = [...this.#known].filter(([, status]) => NOT_THERE.has(status)).map(([id]) => id);
    const turn = never.slice(0, again.length === 0 ? MOST_ASKED : MOST_ASKED / 2);
    return [...turn, ...again.slice(0, MOST_ASKED - turn.length)];
  }

  #forgetAllBut(ids: readonly string[]): void {
    const kept = new Set(ids);
    this.#known = new Map([...this.#known].filter(([id]) => kept.has(id)));
  }

  /** False when the gateway gave no answer: what it said before may not hold any more. */
  async #askAbout(ids: readonly string[], ask: AskStatus, signal: AbortSignal): Promise<boolean> {
    for (const id of ids) {
      const { status } = await ask(id, signal);
      if (status === "unknown") return false;
      this.#known.delete(id);
      this.#known.set(id, status);
    }
    return true;
  }
}
