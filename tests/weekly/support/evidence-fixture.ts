/** A database with the weekly store on it, for what the one statement of step 5 reads. */
import { randomUUID } from "node:crypto";
import type postgres from "postgres";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { EvidenceRows } from "../../../lib/weekly/database/evidence.ts";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import { type Store, weeklyStore } from "../../../lib/weekly/database/store.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { MONDAY, setClock, WEEK } from "../../support/seed.ts";

/** One row of the mirror of sends. */
export type Send = { tenantId: string; userId: string; emailId: string; at: string };
/** One row of the mirror of events. */
export type SendEvent = { id?: string; tenantId: string; emailId: string; type: string; at: string };

/** The database, the store, and a way to read one owner's week. */
export type EvidenceFixture = {
  db: TestDatabase;
  store: Store;
  newOwner(tenantId?: string): Promise<Scope>;
  read(scope: Scope, connectionIds?: string[]): Promise<EvidenceRows>;
  writeSends(sends: Send[], events: SendEvent[]): Promise<void>;
  close(): Promise<void>;
};

/** Opens a database of its own with the clock on a Monday. */
export async function evidenceFixture(): Promise<EvidenceFixture> {
  const db = await (await sharedPostgres()).createDatabase();
  await setClock(db.sql, MONDAY);
  const database = await openDatabase(new Secret(db.url), { max: 2, applicationName: "opsctl-test" });
  const store = weeklyStore(database.sql);
  return {
    db,
    store,
    newOwner: (tenantId) => newOwner(db.sql, tenantId),
    read: (scope, connectionIds = []) => store.readEvidence(scope, WEEK, connectionIds),
    writeSends: (sends, events) => writeSends(db.sql, sends, events),
    async close() {
      await database.close();
      await db.drop();
    },
  };
}

async function newOwner(sql: postgres.Sql, tenantId: string = randomUUID()): Promise<Scope> {
  const userId = randomUUID();
  await sql`insert into tenants (id, name) values (${tenantId}, 'Tenant') on conflict do nothing`;
  await sql`insert into users (id, tenant_id, role) values (${userId}, ${tenantId}, 'owner')`;
  return { tenantId, userId };
}

/** Writes rows of the mirror, instants as text with microseconds. */
async function writeSends(sql: postgres.Sql, sends: Send[], events: SendEvent[]): Promise<void> {
  await sql`
    insert into resend_email_sends (tenant_id, user_id, provider_email_id, sent_at)
    select s."tenantId", s."userId", s."emailId", s.at
    from jsonb_to_recordset(${JSON.stringify(sends)}::text::jsonb)
      as s("tenantId" uuid, "userId" uuid, "emailId" text, at timestamptz)`;
  await sql`
    insert into resend_email_events (id, tenant_id, provider_email_id, type, occurred_at)
    select coalesce(e.id, gen_random_uuid()), e."tenantId", e."emailId", e.type, e.at
    from jsonb_to_recordset(${JSON.stringify(events)}::text::jsonb)
      as e(id uuid, "tenantId" uuid, "emailId" text, type text, at timestamptz)`;
}
