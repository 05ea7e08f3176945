import { expect, test } from "bun:test";
import type postgres from "postgres";
import { applyMigrations } from "../../lib/migrate/run.ts";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { connect, sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { MONDAY } from "../support/seed.ts";
import { describeLedger, Ledger, MAJORS, SENDER, validPersist } from "./support/ledger.ts";

/** Everything a weekly run does with the database, through one login's connection. */
async function workThrough(ledger: Ledger, sql: postgres.Sql): Promise<void> {
  const owner = await ledger.newOwner();
  const [scope] = await sql`
    select * from public.list_weekly_performance_report_scopes(p_tenant_id => ${owner.tenantId})`;
  expect(scope).toEqual({ tenant_id: owner.tenantId, user_id: owner.userId });
  const claim = await ledger.claimReport(owner, { sql });
  const valid = validPersist(owner, claim);
  const [persisted] = await sql`
    select public.persist_weekly_performance_report(
      ${claim.id}, ${claim.token}, ${owner.tenantId}, ${owner.userId}, ${valid.start}, ${valid.end}, 1,
      ${valid.fingerprint}, ${valid.evidence}, ${JSON.stringify(valid.payload)}::text::jsonb) as payload`;
  const [stored] = await sql`select payload from public.weekly_performance_reports where id = ${claim.id}`;
  expect(stored!.payload).toEqual(persisted!.payload);

  const delivery = await ledger.claimDelivery(claim.id, "whatsapp", sql);
  await sql`
    select public.dispatch_weekly_performance_delivery(${delivery.id}, ${delivery.token}, ${SENDER}, '4321')`;
  const [settled] = await sql`
    select * from public.settle_weekly_performance_delivery(
      ${delivery.id}, ${delivery.token}, 'sent', 'BAE5F00D', null)`;
  expect(settled).toEqual({ status: "sent", error_code: null });

  const email = await ledger.claimDelivery(claim.id, "email", sql);
  await sql`
    select public.dispatch_weekly_performance_delivery(${email.id}, ${email.token}, ${SENDER}, 'f***@example.com')`;
  await sql`
    select public.settle_weekly_performance_delivery(${email.id}, ${email.token}, 'unknown', null, 'timeout')`;
  await sql`
    select public.reconcile_weekly_performance_delivery(${email.id}, 'failed', null, 'Not found', 'operator')`;
  const [seen] = await sql`select status from public.weekly_performance_deliveries where id = ${email.id}`;
  expect(seen!.status).toBe("failed");
}

describeLedger("a login that is only a member of service_role", (ledger) => {
  test("can do all of the weekly run's work", async () => {
    const server = await sharedPostgres(ledger.major);
    const login = await newLogin(ledger.sql, "grant service_role to");
    const sql = connect(server.url(ledger.database.name, login));
    try {
      expect(await checkReadiness(sql)).toEqual([]);
      await workThrough(ledger, sql);
    } finally {
      await sql.end();
    }
  });
});

for (const major of MAJORS)
  test(`a plain database owner migrates and works on PostgreSQL ${major ?? 18}`, async () => {
    const server = await sharedPostgres(major);
    const database = await server.createDatabase({ migrated: false });
    const login = await newLogin(database.sql);
    await database.sql.unsafe(`
      alter database ${database.name} owner to ${login};
      grant usage on schema auth to ${login};
      grant select on all tables in schema public to ${login};
      grant references on tenants, users to ${login};
      grant insert on timeline_entries to ${login};`);
    const sql = connect(server.url(database.name, login));
    try {
      await applyMigrations({ sql });
      expect(await checkReadiness(sql)).toEqual([]);
      const ledger = new Ledger(() => database);
      await ledger.setClock(MONDAY);
      await workThrough(ledger, sql);
    } finally {
      await sql.end();
      await database.drop();
    }
  });
