import type { MessageStatus } from "../../providers/evolution/message-status.ts";
import { KEEP_DELIVERED_MS } from "../store/types.ts";
import type { WatchDependencies } from "./watch.ts";

/** How old a message is before it is asked about: WhatsApp acknowledges within seconds. */
const ASKED_AFTER_MS = 2 * 60_000;
const PENDING_AFTER_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** How many messages are asked about in a minute: more would keep the gateway busy. */
const MOST_ASKED = 50;

type Count = number | null;
const UNKNOWN = { pendingMessages: null as Count, newestUnacknowledged: null as Count };

/**
 * Counts the messages that the gateway took and WhatsApp does not acknowledge: sent into a connection that is dead, or
 * given back with an error.
 *
 * Shape:     `pendingMessages` are those of the last day that are ten minutes old; `newestUnacknowledged` the newest
 *            ones in a row, from two minutes on. Null while that is not known.
 * Behaviour: a row ends with the first message that is acknowledged, however old. A gateway that keeps no
 *            acknowledgements would show all messages as pending, so one has to be seen first. A message that the
 *            gateway does not know says nothing. While the gateway gives no answer, the row stays as it was.
 * Source:    design of the alarm, The alarm is watched.
 */
export class Acknowledgements {
  readonly #dependencies: WatchDependencies;
  /** What was last heard of each message; those that wait longest for the next question come first. */
  readonly #statuses = new Map<string, MessageStatus["status"]>();
  #isAnyKept = false;
  #counts = UNKNOWN;

  constructor(dependencies: WatchDependencies) {
    this.#dependencies = dependencies;
  }

  get counts(): typeof UNKNOWN {
    return this.#counts;
  }

  /** Asks about some of them and counts; a process that does not lead knows nothing. */
  async look(signal: AbortSignal): Promise<void> {
    const { durable, isLeading } = this.#dependencies;
    if (!isLeading()) this.#counts = UNKNOWN;
    if (!isLeading()) return;
    const ids = await durable.deliveredBetween(KEEP_DELIVERED_MS, ASKED_AFTER_MS);
    const ofDay = await durable.deliveredBetween(DAY_MS, ASKED_AFTER_MS);
    const overdue = await durable.deliveredBetween(DAY_MS, PENDING_AFTER_MS);
    for (const id of this.#statuses.keys()) if (!ids.includes(id)) this.#statuses.delete(id);
    const never = [...new Set([...this.#row(ids), ...ofDay])].filter((id) => !this.#statuses.has(id));
    const again = this.#unacknowledged([...this.#statuses.keys()]).filter((id) => ofDay.includes(id));
    const isAnswered = await this.#ask([...never, ...again].slice(0, MOST_ASKED), signal);
    this.#isAnyKept ||= [...this.#statuses.values()].some((one) => one === "settled" || one === "returned");
    const pendingMessages = this.#unacknowledged(overdue).length;
    const newestUnacknowledged = this.#unacknowledged(this.#row(ids)).length;
    if (isAnswered && this.#isAnyKept) this.#counts = { pendingMessages, newestUnacknowledged };
    else this.#counts = { ...this.#counts, pendingMessages: null };
  }

  /** The messages that are newer than the newest one known to be acknowledged. */
  #row(ids: readonly string[]): readonly string[] {
    const end = ids.findIndex((id) => this.#statuses.get(id) === "settled");
    return end < 0 ? ids : ids.slice(0, end);
  }

  #unacknowledged(ids: readonly string[]): readonly string[] {
    return ids.filter((id) => ["pending", "returned"].includes(this.#statuses.get(id) ?? ""));
  }

  /** False when the gateway gave no answer. */
  async #ask(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
    const { messageStatus, findInstance } = this.#dependencies.clients();
    for (const id of ids) {
      const instance = await findInstance(signal);
      if (instance.status !== "found") return false;
      const { status } = await messageStatus({ instanceName: instance.name, id }, signal);
      if (status === "unknown") return false;
      this.#statuses.delete(id);
      this.#statuses.set(id, status);
    }
    return true;
  }
}
