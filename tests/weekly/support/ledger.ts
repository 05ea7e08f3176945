/** What a weekly run left behind: its rows, its heartbeat, and what its peers saw. */
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../../lib/last-run/file-name.ts";
import type { WeeklyFixture } from "./weekly-fixture.ts";

/** One delivery as the ledger has it. */
export type DeliveryRow = {
  id: string;
  userId: string;
  channel: string;
  status: string;
  errorCode: string | null;
  providerMessageId: string | null;
  maskedHint: string | null;
  senderTenantId: string | null;
  attempts: number;
  dispatched: boolean;
};

/** The deliveries of one channel by owner. */
export async function deliveriesByOwner(
  { db }: Pick<WeeklyFixture, "db">,
  channel: "whatsapp" | "email",
): Promise<Map<string, DeliveryRow>> {
  const rows = await db.sql<DeliveryRow[]>`
    select id, user_id as "userId", channel, status, error_code as "errorCode",
           provider_message_id as "providerMessageId", masked_hint as "maskedHint",
           sender_tenant_id as "senderTenantId", attempts, dispatched_at is not null as dispatched
    from weekly_performance_deliveries where channel = ${channel}`;
  return new Map(rows.map((row) => [row.userId, { ...row }]));
}

/** Reports by owner: status, code and whether something is stored. */
export async function reportsByOwner({ db }: Pick<WeeklyFixture, "db">) {
  const rows = await db.sql<
    { id: string; userId: string; status: string; errorCode: string | null; stored: boolean }[]
  >`
    select id, user_id as "userId", status, error_code as "errorCode", payload is not null as stored
    from weekly_performance_reports`;
  return new Map(rows.map((row) => [row.userId, { ...row }]));
}

/** Puts the ledger and the timeline back to what a backup of before the run holds of them. */
export async function forgetLedger({ db }: Pick<WeeklyFixture, "db">): Promise<void> {
  await db.sql.begin(async (tx) => {
    // The guards are off, as they are while a backup is read in.
    await tx`set local session_replication_role = replica`;
    await tx`truncate weekly_performance_reports, weekly_performance_deliveries,
                      weekly_performance_reconciliations, timeline_entries`;
  });
}

/** How many deliveries are in each state, as `channel status code`, sorted. */
export async function deliveryStates({ db }: Pick<WeeklyFixture, "db">): Promise<string[]> {
  const rows = await db.sql<{ line: string }[]>`
    select concat_ws(' ', channel, status, error_code, 'x' || count(*)) as line
    from weekly_performance_deliveries group by channel, status, error_code order by 1`;
  return rows.map(({ line }) => line);
}

const OLD_HEARTBEAT = "an old heartbeat, byte for byte\n";
const OLD_TIME = new Date("2026-11-16T11:00:00Z");

/** Puts last week's heartbeat there. */
export function plantHeartbeat({ logDir }: Pick<WeeklyFixture, "logDir">): void {
  const path = join(logDir, HEARTBEAT_FILE);
  writeFileSync(path, OLD_HEARTBEAT);
  utimesSync(path, OLD_TIME, OLD_TIME);
}

/** Whether the planted heartbeat is still there, to the byte and to the second. */
export function isHeartbeatKept({ logDir }: Pick<WeeklyFixture, "logDir">): boolean {
  const path = join(logDir, HEARTBEAT_FILE);
  return readFileSync(path, "utf8") === OLD_HEARTBEAT && statSync(path).mtimeMs === OLD_TIME.getTime();
}
