/** The report of one owner as the ledger keeps it. */
import { strict as assert } from "node:assert";
import type postgres from "postgres";
import type { Payload } from "../../../lib/weekly/payload.ts";

/** A row of `weekly_performance_reports`. */
export type StoredReport = {
  id: string;
  status: string;
  fingerprint: string;
  evidence: string;
  payload: Payload;
  coverage_status: string | null;
  error_code: string | null;
};

/** The one report of this owner. */
export async function storedReport(
  sql: postgres.Sql,
  { tenantId, userId }: { tenantId: string; userId: string },
): Promise<StoredReport> {
  const rows = await sql<StoredReport[]>`
    select id, status, fingerprint, evidence, payload, coverage_status, error_code
    from weekly_performance_reports where tenant_id = ${tenantId} and user_id = ${userId}`;
  assert.equal(rows.length, 1, "expected one report of this owner");
  return rows[0]!;
}
