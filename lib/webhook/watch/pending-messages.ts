import type { MessageStatus } from "../../providers/evolution/message-status.ts";
import { KEEP_DELIVERED_MS, type State } from "../state/contract.ts";

/** This many of the newest messages in a row without an acknowledgement are no coincidence: nothing arrives. */
export const UNACKNOWLEDGED_LIMIT = 3;

/** Asks what became of the message with this id; never throws. */
export type AskStatus = (id: string, signal: AbortSignal) => Promise<MessageStatus>;

/** What counting the pending messages works with. */
export type PendingDependencies = {
  state: Pick<State, "deliveredBetween">;
  ask: () => AskStatus;
};

/** How old a message is before it is asked about: WhatsApp acknowledges within seconds. */
const ASKED_AFTER_MS = 2 * 60_000;
/** How old a message is before it counts as pending. */
const PENDING_AFTER_MS = 10 * 60_000;
/** How long a message is looked after; the gateway's phone is seen to be cut off long before. */
const LOOKED_AFTER_MS = 24 * 60 * 60_000;
/** How many messages are asked about in a round: more would keep the gateway busy. */
const MOST_ASKED = 50;
const MOST_IN_A_ROW = 500;

/** Statuses of messages that are not on the phone, as far as is known: they are asked about again. */
const NOT_THERE: ReadonlySet<MessageStatus["status"]> = new Set(["pending", "returned"]);

/**
 * Counts the messages that the gateway took and WhatsApp does not acknowledge: sent into a connection that is dead
 * while the gateway believes it open, or given back with an error, as to an account that is restricted.
 *
 * Shape:     `count` is of all that are ten minutes old, `newest` has the ids of the newest ones in a row from two
 *            minutes on, the newest first; both are null while they are not known.
 * Behaviour: each message is asked about until it is settled, those that wait longest for their turn first. A message
 *            without an acknowledgement counts only once some message has had one: a gateway that keeps none would show
 *            all of them as pending. A row ends with one newer message that is acknowledged, and by nothing else: not
 *            by its age, nor by a gateway that gives no answer. A message that the gateway does not know says nothing.
 */
export class PendingMessages {
  readonly #dependencies: PendingDependencies;
  /** What was last heard of each message of the time that is looked after; those never asked about are not in it. */
  #known = new Map<string, MessageStatus["status"]>();
  #keepsAcknowledgements = false;
  #count: number | null = null;
  #newest: readonly string[] | null = null;

  constructor(dependencies: PendingDependencies) {
    this.#dependencies = dependencies;
  }

  get count(): number | null {
    return this.#count;
  }

  get newest(): readonly string[] | null {
    return this.#newest;
  }

  /** Another process sends: it counts. */
  forget(): void {
    this.#count = null;
    this.#newest = null;
  }

  /** Asks about some of them and counts. */
  async look(signal: AbortSignal): Promise<void> {
    const { state, ask } = this.#dependencies;
    const recent = await state.deliveredBetween(LOOKED_AFTER_MS, ASKED_AFTER_MS);
    const overdue = await state.deliveredBetween(LOOKED_AFTER_MS, PENDING_AFTER_MS);
    const ids = [...recent, ...(await this.#before())];
    this.#forgetAllBut(ids);
    const isAnswered = await this.#askAbout(this.#next(ids, new Set(recent)), ask(), signal);
    const statuses = [...this.#known.values()];
    this.#keepsAcknowledgements ||= statuses.some((status) => status === "settled" || status === "returned");
    const isKnown = isAnswered && this.#keepsAcknowledgements;
    this.#count = isKnown ? overdue.filter((id) => this.#isNotThere(id)).length : null;
    if (isKnown) this.#newest = this.#inARow(ids);
  }

  /** Older messages, until one with an acknowledgement is found: after a restart a row may be older than a day. */
  async #before(): Promise<string[]> {
    if (this.#keepsAcknowledgements) return [];
    return await this.#dependencies.state.deliveredBetween(KEEP_DELIVERED_MS, LOOKED_AFTER_MS);
  }

  #inARow(ids: readonly string[]): string[] {
    const end = ids.findIndex((id) => this.#known.get(id) === "settled");
    const row = ids.slice(0, end < 0 ? undefined : end).filter((id) => this.#isNotThere(id));
    const looked = new Set(ids);
    const older = end < 0 ? (this.#newest ?? []).filter((id) => !looked.has(id)) : [];
    return [...row, ...older].slice(0, MOST_IN_A_ROW);
  }

  #isNotThere(id: string): boolean {
    const status = this.#known.get(id);
    return status !== undefined && NOT_THERE.has(status);
  }

  /** A message that is asked about again goes to the end, so the map is in the order of the questions. */
  #next(ids: readonly string[], recent: ReadonlySet<string>): string[] {
    const never = ids.filter((id) => !this.#known.has(id));
    const again = [...this.#known.keys()].filter((id) => recent.has(id) && this.#isNotThere(id));
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
