import type { SeededOwner } from "../../support/seed.ts";
import type { WeeklyFixture } from "./weekly-fixture.ts";

const APPLICATION_TABLES = [
  "timeline_entries",
  "social_channel_analyses",
  "social_account_scores",
  "social_connections",
  "resend_email_sends",
];

/** How the application erases a user: its own rows first. */
export async function eraseOwner(
  { db }: Pick<WeeklyFixture, "db">,
  { tenantId, userId }: Pick<SeededOwner, "tenantId" | "userId">,
): Promise<void> {
  await db.sql.begin(async (tx) => {
    for (const table of APPLICATION_TABLES)
      await tx.unsafe(`delete from ${table} where tenant_id = '${tenantId}' and user_id = '${userId}'`);
    await tx`delete from users where id = ${userId}`;
  });
}
