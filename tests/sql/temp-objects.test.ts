/** What a caller makes in its own temporary schema must mean nothing inside the functions, which run as their owner. */
import { expect, test } from "bun:test";
import type postgres from "postgres";
import { connect, sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { WEEK } from "../support/seed.ts";
import { describeLedger } from "./support/ledger.ts";

/** Every type that the functions name, and some that they do not. */
const TYPES = [
  ...["uuid", "text", "timestamptz", "timestamp", "date", "interval", "int4", "int8", "bool"],
  ...["json", "jsonb", "xid8", "name", "numeric"],
];
const TABLES = [
  "weekly_performance_reports",
  "weekly_performance_deliveries",
  "weekly_performance_reconciliations",
  "timeline_entries",
  "tenants",
  "users",
  "credit_wallets",
];

/** Makes types, tables and functions under the names that the functions use; each fails when it runs as another. */
async function shadow(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    create function pg_temp.taken() returns boolean language plpgsql as $$ begin
      if current_user <> session_user then
        raise exception using message = 'runs for the caller as ' || current_user;
      end if;
      return true;
    end $$`);
  await sql.unsafe("grant execute on function pg_temp.taken() to public");
  for (const table of TABLES)
    await sql.unsafe(`create temp table ${table} (id pg_catalog.int4 check (pg_temp.taken()))`);
  for (const type of TYPES)
    await sql.unsafe(`create domain pg_temp.${type} as pg_catalog.${type} check (pg_temp.taken())`);
}

describeLedger("a caller with temporary types and tables of the same names", (ledger) => {
  test("goes through a whole week, and nothing of its own runs as the owner", async () => {
    const login = await newLogin(ledger.sql, "grant service_role to");
    const url = (await sharedPostgres(ledger.major)).url(ledger.database.name, login);
    const sql = connect(url);
    try {
      await shadow(sql);
      const caller = ledger.on(sql);
      const [sent, failed] = [await ledger.newOwner(), await ledger.newOwner()];
      const claim = await caller.claimReport(sent);
      await caller.persist(sent, claim);
      const [known] = await sql`
        select public.weekly_performance_tenant_name(${sent.tenantId}::pg_catalog.uuid) as name,
          public.weekly_performance_report_history(${sent.tenantId}::pg_catalog.uuid, ${sent.userId}::pg_catalog.uuid,
            ${WEEK.end}::pg_catalog.text::pg_catalog.timestamptz, 1, 7) as history`;
      expect(known).toMatchObject({ name: "Tenant", history: { scores: { length: 7 } } });
      await caller.failReport(await caller.claimReport(failed), "report_persist_failed");
      for (const [channel, hint] of [
        ["whatsapp", "4321"],
        ["email", "f***@example.com"],
      ] as const) {
        const delivery = await caller.claimDelivery(claim.id, channel);
        await caller.dispatch(delivery, hint);
        await caller.settle(delivery, "unknown", null, "provider_timeout");
        await caller.reconcile(delivery.id, "sent", "provider-id");
        expect(await ledger.delivery(delivery.id)).toMatchObject({ status: "sent" });
      }
      await sql.unsafe("select * from public.list_weekly_performance_report_scopes(null)");
      await sql.unsafe("select * from public.weekly_performance_window(public.weekly_performance_now())");
      await sql.unsafe("select public.weekly_performance_is_report_day(public.weekly_performance_now())");
      const kept = await ledger.sql`
        select session_user_name, actor from weekly_performance_reconciliations order by created_at`;
      expect(new Set(kept.map((row) => row.session_user_name))).toEqual(new Set([login]));
    } finally {
      await sql.end();
    }
  });
});
