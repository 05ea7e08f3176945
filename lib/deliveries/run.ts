import type postgres from "postgres";
import { OpsError } from "../platform/errors.ts";

/** What a command over the ledger answers. */
export type LedgerResult = { exitCode: number; result: object; text: string };

/** Which deliveries to list; null means all. */
export type LedgerFilter = {
  state: string | null;
  week: string | null;
  tenantId: string | null;
  limit: number;
};

/** An operator's decision about a delivery whose outcome nobody knows. */
export type Reconciliation = {
  deliveryId: string;
  to: "sent" | "failed";
  providerMessageId: string | null;
  reason: string;
  actor: string;
};

/** Deliveries of the ledger, newest week first. */
export async function listDeliveries(_sql: postgres.Sql, _filter: LedgerFilter): Promise<LedgerResult> {
  throw notYet();
}

/** One delivery with its reconciliations. */
export async function showDelivery(_sql: postgres.Sql, _deliveryId: string): Promise<LedgerResult> {
  throw notYet();
}

/** Settles one `unknown` delivery by hand. */
export async function reconcileDelivery(
  _sql: postgres.Sql,
  _reconciliation: Reconciliation,
): Promise<LedgerResult> {
  throw notYet();
}

function notYet(): OpsError {
  return new OpsError({ code: "INTERNAL_ERROR", message: "Cannot read the ledger: not written yet" });
}
