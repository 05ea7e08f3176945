import type postgres from "postgres";
import { OpsError } from "../platform/errors.ts";
import { redact } from "../platform/secrets/redact.ts";
import { messageIdOf } from "../providers/send-outcome.ts";
import { normalizePhone } from "../text/phone.ts";
import { deliveryNotFound } from "./list.ts";

/** What a person found out about a delivery in doubt. */
export type Finding = {
  to: "sent" | "failed";
  providerMessageId: string | null;
  reason: string;
  actor: string;
};

/** The ledger's new state; `code` is a remark on a sent delivery, the reason of a failed one. */
export type Reconciled = { id: string; state: "sent" | "failed"; code: string | null };

/**
 * Takes a delivery out of `unknown`, on any day, and records who decided why.
 *
 * Errors: DELIVERY_NOT_FOUND, DELIVERY_NOT_UNKNOWN, RECONCILE_ID_HELD, RECONCILE_REASON_PRIVATE, RECONCILE_INVALID;
 *         nothing is changed then.
 */
export async function reconcileDelivery(
  sql: postgres.Sql,
  id: string,
  { to, providerMessageId, reason, actor }: Finding,
): Promise<Reconciled> {
  if (providerMessageId !== null && !isMessageId(providerMessageId)) throw invalidFinding(id, NOT_AN_ID);
  if (!isName(actor)) throw invalidFinding(id, NOT_A_NAME);
  try {
    const [row] = await sql<[{ state: Reconciled["state"]; code: string | null }]>`
      select status as state, error_code as code
      from public.reconcile_weekly_performance_delivery(
        p_delivery_id => ${id}::uuid, p_status => ${to}::text,
        p_provider_message_id => ${providerMessageId}::text, p_reason => ${reason}::text, p_actor => ${actor}::text)`;
    return { id, ...row };
  } catch (error) {
    throw refusalOf(error, id);
  }
}

/**
 * Makes sure that an actor can be recorded, before anything is looked up for them.
 *
 * Errors: RECONCILE_INVALID.
 */
export function requireActor(actor: string): void {
  if (isName(actor)) return;
  throw new OpsError({
    code: "RECONCILE_INVALID",
    message: `Cannot settle deliveries: ${NOT_A_NAME}`,
    hint: "Name who decides with --actor",
  });
}

const INVALID: Readonly<Record<string, string>> = {
  weekly_performance_reconciliations_provider_id:
    "sent needs the provider's message id, of 512 characters at most, and failed has none",
  weekly_performance_reconciliations_reason: "the reason is blank or longer than 1000 characters",
  weekly_performance_reconciliations_actor: "the actor is blank or longer than 200 characters",
};

const NOT_AN_ID =
  "the provider's message id is not one; it is the id or key.id of the provider's answer, never the recipient";
const NOT_A_NAME = "the actor is a name, and neither an address nor a telephone number; see --actor";

/** Whether an id is like those that a run records; a person may also enter the recipient's number by mistake. */
export function isMessageId(text: string): boolean {
  return messageIdOf(text) !== null && normalizePhone(text) === null;
}

/** The bounds of its length are the ledger's own. */
function isName(actor: string): boolean {
  return (
    redact(actor) === actor && normalizePhone(actor) === null && /\S/.test(actor) && [...actor].length <= 200
  );
}

function refusalOf(error: unknown, id: string): unknown {
  const { code, constraint_name: constraint } = (error ?? {}) as Record<string, unknown>;
  if (code === "OW021") return deliveryNotFound(id);
  if (code === "OW030")
    return new OpsError({
      code: "DELIVERY_NOT_UNKNOWN",
      message: `Cannot reconcile delivery ${id}: it is not in the state unknown`,
      hint: `Only a delivery in doubt is reconciled; see opsctl deliveries show ${id}`,
    });
  if (code === "OW034")
    return new OpsError({
      code: "RECONCILE_ID_HELD",
      message: `Cannot reconcile delivery ${id}: another delivery holds this provider's id, or held it until its owner was deleted`,
      hint: "One message belongs to one delivery: find out which message is this one's",
    });
  if (constraint === "weekly_performance_reconciliations_privacy")
    return new OpsError({
      code: "RECONCILE_REASON_PRIVATE",
      message: `Cannot reconcile delivery ${id}: the reason holds an e-mail address or a telephone number`,
      hint: "The ledger keeps neither: name the provider's id or the mask instead",
    });
  const invalid = typeof constraint === "string" ? INVALID[constraint] : undefined;
  return invalid === undefined ? error : invalidFinding(id, invalid);
}

function invalidFinding(id: string, problem: string): OpsError {
  return new OpsError({
    code: "RECONCILE_INVALID",
    message: `Cannot reconcile delivery ${id}: ${problem}`,
    hint: "opsctl deliveries reconcile --help has an example",
  });
}
