import type { GatewayOptions } from "./call.ts";
import { callFindMessages, failureOf, pageOf } from "./find-messages.ts";

/**
 * The acknowledgement of a sent message, as far as the gateway keeps it.
 *
 * Shape: `settled`: WhatsApp took it; `returned`: it gave it back with an error; `pending`: it said neither; `absent`:
 *        the gateway knows no such message; `unknown`: it gave no usable answer.
 */
export type MessageStatus =
  | { status: "settled" }
  | { status: "returned" }
  | { status: "pending" }
  | { status: "absent" }
  | { status: "unknown"; code: string };

/** Asks for the status of one message, by its id; never throws, sends nothing and changes nothing. */
export type AskMessageStatus = (
  message: { instanceName: string; id: string },
  signal?: AbortSignal,
) => Promise<MessageStatus>;

/** Longest time of one question; the gateway reads its own database. */
const MESSAGE_STATUS_TIMEOUT_MS = 10_000;

/** Acknowledgements that are the last word, or as good as one. */
const SETTLED: ReadonlySet<string> = new Set(["SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED", "DELETED"]);

/**
 * Asks the gateway for the status of a message, by `POST /chat/findMessages` with its exact id.
 *
 * Behaviour: a kept message without any acknowledgement is pending, also where the gateway keeps no acknowledgements:
 *            the caller can only know by messages that have one.
 * Errors:    none thrown; the codes of the gateway.
 * Source:    github.com/EvolutionAPI/evolution-api at 3454bec (2.3.6), channel.service.ts, read 2026-11-21.
 */
export function askMessageStatus(options: GatewayOptions): AskMessageStatus {
  const { timeoutMs = MESSAGE_STATUS_TIMEOUT_MS } = options;
  return async ({ instanceName, id }, signal) => {
    const body = { where: { key: { id } }, page: 1, offset: 2 };
    const result = await callFindMessages(options, instanceName, { body, timeoutMs, signal });
    const page = pageOf(result);
    if (page === null) return { status: "unknown", code: failureOf(result).code };
    // A gateway that does not know the filter returns other messages.
    const statuses = page.messages.find((message) => message.id === id)?.statuses;
    if (statuses === undefined) return { status: "absent" };
    if (statuses.some((status) => SETTLED.has(status))) return { status: "settled" };
    return { status: statuses.includes("ERROR") ? "returned" : "pending" };
  };
}
