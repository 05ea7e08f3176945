import type postgres from "postgres";
import { OpsError } from "../../platform/errors.ts";
import { localTime } from "../../time/local-time.ts";
import type { Delivery } from "../delivery.ts";
import { isMessageId, reconcileDelivery } from "../reconcile.ts";
import { type Doubt, readState } from "./doubt.ts";
import type { Evidence } from "./evidence.ts";

/**
 * What became of a delivery whose message was found.
 *
 * Shape: `settled` when this call recorded it; `state` is the ledger's then, null when the row was erased meanwhile;
 *        `remark` is a remark on a sent delivery, such as `timeline_entry_failed`, or says that the message was given
 *        to another delivery meanwhile.
 */
export type Settled = { settled: boolean; state: Delivery["state"] | null; remark: string | null };

/** Refusals that mean that another session was faster. */
const TOO_LATE = new Set(["DELIVERY_NOT_UNKNOWN", "DELIVERY_NOT_FOUND", "RECONCILE_ID_HELD"]);

/**
 * Records what was found as `sent`, with the evidence as the reason.
 *
 * Behaviour: the database's function takes only a delivery in doubt, so of two operators the second finds it settled.
 * Errors:    those of `reconcileDelivery`, but for these.
 */
export async function settleFound(
  sql: postgres.Sql,
  doubt: Doubt,
  evidence: Evidence,
  actor: string,
): Promise<Settled> {
  try {
    const { state, code } = await reconcileDelivery(sql, doubt.id, {
      to: "sent",
      providerMessageId: evidence.id,
      reason: reasonOf(doubt, evidence),
      actor,
    });
    return { settled: true, state, remark: code };
  } catch (error) {
    if (!(error instanceof OpsError) || !TOO_LATE.has(error.code)) throw error;
    const remark = error.code === "RECONCILE_ID_HELD" ? "evidence_of_another_delivery" : null;
    return { settled: false, state: await readState(sql, doubt.id), remark };
  }
}

/** Whether the ledger would take the provider's id: one that reads like a telephone number it would not. */
export function isUsable({ id }: Evidence): boolean {
  return isMessageId(id);
}

const FOUND: Record<Doubt["channel"], string> = {
  whatsapp: "the gateway keeps one message with this text to this recipient",
  email: "the e-mail provider keeps one e-mail with this delivery's tag",
};

function reasonOf({ channel, dispatchedAtMs }: Doubt, { sentAtMs, providerStatus }: Evidence): string {
  const seconds = Math.round((sentAtMs - dispatchedAtMs) / 1000);
  const distance = seconds < 0 ? `${-seconds} s before` : `${seconds} s after`;
  const status = providerStatus === null ? "" : `, status ${providerStatus}`;
  return `opsctl deliveries look-up: ${FOUND[channel]}, sent ${localTime(instantText(sentAtMs))} (São Paulo), ${distance} the dispatch${status}`;
}

/** An instant in UTC, to the second. */
export function instantText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
