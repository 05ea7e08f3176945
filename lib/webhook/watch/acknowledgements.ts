import type { MessageStatus } from "../../providers/evolution/message-status.ts";
import { KEEP_DELIVERED_MS } from "../store/model.ts";
import type { WatchDependencies } from "./dependencies.ts";

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
export function acknowledgements({ durable, dispatcher, clients }: WatchDependencies) {
  /** What was last heard of each message; those that wait longest for the next question come first. */
  const statuses = new Map<string, MessageStatus["status"]>();
  let isAnyKept = false;
  let counts = UNKNOWN;

  /** The messages that are newer than the newest one known to be acknowledged. */
  const row = (ids: readonly string[]): readonly string[] => {
    const end = ids.findIndex((id) => statuses.get(id) === "settled");
    return end < 0 ? ids : ids.slice(0, end);
  };
  const unacknowledged = (ids: readonly string[]): readonly string[] =>
    ids.filter((id) => ["pending", "returned"].includes(statuses.get(id) ?? ""));

  /** False when the gateway gave no answer. */
  const ask = async (ids: readonly string[], signal: AbortSignal): Promise<boolean> => {
    const { messageStatus, findInstance } = clients();
    for (const id of ids) {
      const instance = await findInstance(signal);
      if (instance.status !== "found") return false;
      const { status } = await messageStatus({ instanceName: instance.name, id }, signal);
      if (status === "unknown") return false;
      statuses.delete(id);
      statuses.set(id, status);
    }
    return true;
  };

  return {
    get counts() {
      return dispatcher.isLeading ? counts : UNKNOWN;
    },
    /** Asks about some of them and counts; a process that does not lead knows nothing. */
    async look(signal: AbortSignal): Promise<void> {
      if (!dispatcher.isLeading) return;
      const ids = await durable.deliveredBetween(KEEP_DELIVERED_MS, ASKED_AFTER_MS);
      const ofDay = await durable.deliveredBetween(DAY_MS, ASKED_AFTER_MS);
      const overdue = await durable.deliveredBetween(DAY_MS, PENDING_AFTER_MS);
      for (const id of statuses.keys()) if (!ids.includes(id)) statuses.delete(id);
      const never = [...new Set([...row(ids), ...ofDay])].filter((id) => !statuses.has(id));
      const again = unacknowledged([...statuses.keys()]).filter((id) => ofDay.includes(id));
      const isAnswered = await ask([...never, ...again].slice(0, MOST_ASKED), signal);
      isAnyKept ||= [...statuses.values()].some((one) => one === "settled" || one === "returned");
      const pendingMessages = isAnswered && isAnyKept ? unacknowledged(overdue).length : null;
      const newestUnacknowledged = unacknowledged(row(ids)).length;
      counts =
        pendingMessages === null ? { ...counts, pendingMessages } : { pendingMessages, newestUnacknowledged };
    },
  };
}
