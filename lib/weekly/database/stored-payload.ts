import type postgres from "postgres";

/** What a completed report keeps of its content; `payload` is unchecked, and null once it was removed. */
export type StoredPayload = { payload: unknown; prunedAt: string | null };

/** The payload of a completed report. */
export async function readStoredPayload(sql: postgres.ISql, reportId: string): Promise<StoredPayload> {
  const [row] = await sql<StoredPayload[]>`
    select r.payload, to_char(r.pruned_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "prunedAt"
    from public.weekly_performance_reports as r where r.id = ${reportId}::uuid`;
  return row!;
}
