import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";

/** The code of a gateway that cannot ask its own database. */
export const DATABASE_FAILED = "gateway_database_failed";

/** How long to leave such a gateway alone: a database that was started anew is back within a minute. */
export const DATABASE_BACK_AFTER_MS = 10_000;

/** What is read before a send: the instance by the guard, the rest by the check of the number. */
const BEFORE_A_SEND: ReadonlySet<string | null> = new Set(["instance", "contact", "isOnWhatsapp"]);

/** Whether the gateway failed at its database before it came to the send. */
export function failedBeforeSend(answer: PeerAnswer | null): boolean {
  return BEFORE_A_SEND.has(failedTable(answer));
}

/** The code for a question that has no answer of use. */
export function codeOfQuestion(result: CallResult): string {
  return failedTable(result.answer) === null ? codeOfCall("gateway", result) : DATABASE_FAILED;
}

/**
 * The table whose query failed, or null when the answer is not that of a failed query.
 *
 * Behaviour: a failure inside or after the send is a 400, and no failed query in the sense of this function.
 * Source:    a running 2.3.6 (github.com/EvolutionAPI/evolution-api at 3454bec) whose PostgreSQL was stopped,
 *            2026-11-23: the words before the table's name depend on NODE_ENV, and the guard puts the error's name
 *            before them.
 */
function failedTable(answer: PeerAnswer | null): string | null {
  if (answer?.status !== 500) return null;
  const message = member(member(answer.json, "response"), "message");
  const text = Array.isArray(message) && message.length === 1 ? message[0] : message;
  if (typeof text !== "string") return null;
  const [, query] =
    /^(?:PrismaClient\w{1,60}: )?\s*Invalid `([\w.$]{1,200})\(\)` invocation/.exec(text) ?? [];
  return query?.split(".").at(-2) ?? null;
}
