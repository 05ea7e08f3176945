/** A completed report of an earlier week, as an opsctl of then has stored it. */
import { createHash, randomUUID } from "node:crypto";
import type postgres from "postgres";
import type { WeekBounds } from "../../../lib/ledger/week-state.ts";
import { localDate, startOfDate } from "../../../lib/time/local-date.ts";
import { Temporal } from "../../../lib/time/temporal.ts";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";

/** What may differ from a report of the same version that has its content. */
export type PastReport = {
  payload?: unknown;
  version?: number;
  status?: "completed" | "failed";
  pruned?: boolean;
};

/** The week that is `weeks` calendar weeks before another. */
export function weeksBefore({ start, end }: WeekBounds, weeks: number): WeekBounds {
  const back = (instant: string) =>
    startOfDate(localDate(Temporal.Instant.from(instant)).subtract({ weeks })).toString();
  return { start: back(start), end: back(end) };
}

/** A payload with one score and these channels available; what a reader of the week before needs, and nothing else. */
export function pastPayload(score: number | null, metrics: Record<string, unknown> = {}): object {
  const channels = Object.entries(metrics).map(([name, figures]) => [
    name,
    { status: "available", metrics: figures },
  ]);
  return { accountScore: { score }, channels: Object.fromEntries(channels) };
}

/** Writes the row past the ledger's functions, which only take the last closed week. */
export async function writePastReport(
  sql: postgres.Sql,
  { tenantId, userId }: Scope,
  { start, end }: WeekBounds,
  { payload = pastPayload(50), version = 1, status = "completed", pruned = false }: PastReport = {},
): Promise<string> {
  const id = randomUUID();
  const kept = status === "completed" && !pruned;
  const isCompleted = status === "completed";
  await sql`
    insert into weekly_performance_reports
      (id, tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
       coverage_status, completed_at, pruned_at)
    values (${id}, ${tenantId}, ${userId}, ${start}::text::timestamptz, ${end}::text::timestamptz, ${version},
            ${status}, ${isCompleted ? createHash("sha256").update(id).digest("hex") : null}, ${kept ? "{}" : null},
            ${kept ? JSON.stringify(payload) : null}::text::jsonb, ${isCompleted ? "partial" : null},
            ${isCompleted ? end : null}::text::timestamptz, ${pruned ? end : null}::text::timestamptz)`;
  return id;
}
