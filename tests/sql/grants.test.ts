import { expect, test } from "bun:test";
import { describeLedger } from "./support/ledger.ts";

/** What the catalog says about everything that the SQL files make; the database grants new objects to everybody. */
describeLedger("the catalog", (ledger) => {
  const ours = "p.pronamespace = 'public'::regnamespace and p.proname like '%weekly_performance%'";

  test("knows no function that PUBLIC, anon or authenticated may execute", async () => {
    const rows = await ledger.sql.unsafe(`
      select distinct p.proname, coalesce(r.rolname, 'PUBLIC') as grantee
      from pg_proc as p
      cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
      left join pg_roles as r on r.oid = a.grantee
      where ${ours} and a.grantee <> p.proowner`);
    expect(new Set(rows.map((row) => row.grantee))).toEqual(new Set(["service_role"]));
    expect(rows.length).toBeGreaterThan(15);
  });

  test("has a fixed search path on every function whose body is not bound when it is made, pg_temp last", async () => {
    const rows = await ledger.sql.unsafe(`
      select p.proname from pg_proc as p
      where ${ours} and p.prosqlbody is null
        and not coalesce('search_path=pg_catalog, pg_temp' = any(p.proconfig), false)`);
    expect(Array.from(rows)).toEqual([]);
  });

  test("runs as the owner exactly what writes or crosses row access", async () => {
    const rows = await ledger.sql.unsafe(`
      select p.proname from pg_proc as p where ${ours} and p.prosecdef order by 1`);
    expect(rows.map((row) => row.proname)).toEqual([
      "claim_weekly_performance_delivery",
      "claim_weekly_performance_report",
      "dispatch_weekly_performance_delivery",
      "fail_weekly_performance_report",
      "list_weekly_performance_report_scopes",
      "persist_weekly_performance_report",
      "prune_weekly_performance_reports",
      "reconcile_weekly_performance_delivery",
      "repair_weekly_performance_delivery",
      "settle_weekly_performance_delivery",
      "weekly_performance_tenant_name",
      "weekly_performance_week",
      "weekly_performance_week_owners",
    ]);
  });

  test("grants on the tables no more than reading, to whom it is meant for", async () => {
    const rows = await ledger.sql`
      select c.relname || ' ' || coalesce(r.rolname, 'PUBLIC') || ' ' || a.privilege_type as granted
      from pg_class as c
      cross join aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) as a
      left join pg_roles as r on r.oid = a.grantee
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.grantee <> c.relowner
        and (c.relname like 'weekly_performance%' or c.relname = 'opsctl_migrations')
      order by 1`;
    expect(rows.map((row) => row.granted)).toEqual([
      "opsctl_migrations service_role SELECT",
      "weekly_performance_deliveries service_role SELECT",
      "weekly_performance_erased_messages service_role SELECT",
      "weekly_performance_reconciliations service_role SELECT",
      "weekly_performance_reports service_role SELECT",
    ]);
  });

  test("grants single columns of the reports alone, to authenticated, those that a page needs", async () => {
    const rows = await ledger.sql`
      select c.relname, r.rolname, a.privilege_type, array_agg(t.attname::text order by t.attnum)::text as columns
      from pg_attribute as t join pg_class as c on c.oid = t.attrelid
      cross join aclexplode(t.attacl) as a left join pg_roles as r on r.oid = a.grantee
      where c.relnamespace = 'public'::regnamespace
        and (c.relname like 'weekly_performance%' or c.relname = 'opsctl_migrations')
      group by 1, 2, 3`;
    expect(Array.from(rows)).toEqual([
      {
        relname: "weekly_performance_reports",
        rolname: "authenticated",
        privilege_type: "SELECT",
        columns:
          "{id,tenant_id,user_id,window_start,window_end,schema_version,status,payload,coverage_status,completed_at,pruned_at}",
      },
    ]);
  });

  test("has row security on every table", async () => {
    const rows = await ledger.sql`
      select relname from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and not relrowsecurity
        and (relname like 'weekly_performance%' or relname = 'opsctl_migrations')`;
    expect(Array.from(rows)).toEqual([]);
  });
});
