import { expect, test } from "bun:test";
import { WEEK } from "../support/seed.ts";
import { describeLedger, type Owner, refusal } from "./support/ledger.ts";

const TABLES = [
  "weekly_performance_reports",
  "weekly_performance_deliveries",
  "weekly_performance_reconciliations",
  "opsctl_migrations",
];
const DENIED = /^42501 permission denied/;

/** Every function that a signed-in user or a visitor must not be able to call. */
const CALLS = [
  "list_weekly_performance_report_scopes(null)",
  `claim_weekly_performance_report(gen_random_uuid(), gen_random_uuid(), '${WEEK.start}', '${WEEK.end}', 1)`,
  `persist_weekly_performance_report(gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
     '${WEEK.start}', '${WEEK.end}', 1, '', '', '{}')`,
  "fail_weekly_performance_report(gen_random_uuid(), gen_random_uuid(), 'x')",
  "claim_weekly_performance_delivery(gen_random_uuid(), 'email')",
  "dispatch_weekly_performance_delivery(gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '4321')",
  "settle_weekly_performance_delivery(gen_random_uuid(), gen_random_uuid(), 'sent', 'id', null)",
  "reconcile_weekly_performance_delivery(gen_random_uuid(), 'failed', null, 'reason', 'actor')",
  "weekly_performance_now()",
  "weekly_performance_window(now())",
];

describeLedger("row access", (ledger) => {
  /** Two owners of one tenant with a completed report each, and a third whose report is still running. */
  async function threeOwners() {
    const first = await ledger.newOwner();
    const users: string[] = [];
    for (let i = 0; i < 2; i++) {
      const [row] = await ledger.sql`
        insert into users (tenant_id, role) values (${first.tenantId}, 'owner') returning id`;
      users.push(row!.id);
    }
    const owners: Owner[] = [first, ...users.map((userId) => ({ tenantId: first.tenantId, userId }))];
    const completed = [await ledger.completedReport(owners[0]!), await ledger.completedReport(owners[1]!)];
    await ledger.claimReport(owners[2]!);
    return { owners, completed };
  }

  async function visible(role: string, userId?: string): Promise<string[]> {
    const rows = await ledger.as(role, (tx) => tx`select id from weekly_performance_reports`, userId);
    return rows.map((row) => row.id);
  }

  test("gives a signed-in user their own completed report only, even within one tenant", async () => {
    const { owners, completed } = await threeOwners();
    expect(await visible("authenticated", owners[0]!.userId)).toEqual([completed[0]!]);
    expect(await visible("authenticated", owners[1]!.userId)).toEqual([completed[1]!]);
    expect(await visible("authenticated", owners[2]!.userId)).toEqual([]);
    expect(await visible("authenticated", crypto.randomUUID())).toEqual([]);
    expect(await visible("authenticated")).toEqual([]);
  });

  test("gives a signed-in user the columns of a page, and none of the worker's", async () => {
    const { owners, completed } = await threeOwners();
    const { tenantId, userId } = owners[0]!;
    const read = (columns: string) =>
      ledger.as(
        "authenticated",
        (tx) => tx.unsafe(`select ${columns} from weekly_performance_reports where user_id = '${userId}'`),
        userId,
      );
    const [row] = await read(`id, tenant_id, user_id, window_start, window_end, schema_version, status,
      payload ->> 'tenantId' as payload, coverage_status, completed_at is not null as completed`);
    expect({ ...row }).toEqual({
      id: completed[0]!,
      tenant_id: tenantId,
      user_id: userId,
      window_start: new Date(WEEK.start),
      window_end: new Date(WEEK.end),
      schema_version: 1,
      status: "completed",
      payload: tenantId,
      coverage_status: "partial",
      completed: true,
    });
    const ofTheWorker = ["claim_token", "lease_expires_at", "attempts", "fingerprint", "evidence"];
    for (const column of [...ofTheWorker, "error_code", "created_at", "updated_at", "*"])
      expect(await refusal(read(column))).toMatch(DENIED);
    expect(await refusal(read("id from weekly_performance_reports order by claim_token --"))).toMatch(DENIED);
  });

  test("gives a signed-in user nothing of the deliveries, reconciliations and migrations", async () => {
    const { owners } = await threeOwners();
    for (const table of TABLES.slice(1))
      expect(
        await refusal(
          ledger.as("authenticated", (tx) => tx.unsafe(`select * from ${table}`), owners[0]!.userId),
        ),
      ).toMatch(DENIED);
  });

  test("gives a visitor nothing at all", async () => {
    for (const table of TABLES)
      expect(await refusal(ledger.as("anon", (tx) => tx.unsafe(`select * from ${table}`)))).toMatch(DENIED);
  });

  test("lets service_role read everything and write nothing past the functions", async () => {
    const { completed } = await threeOwners();
    expect(await visible("service_role")).toContain(completed[0]!);
    for (const table of TABLES)
      await ledger.as("service_role", (tx) => tx.unsafe(`select count(*) from ${table}`));
  });

  for (const role of ["anon", "authenticated", "service_role"])
    for (const table of TABLES)
      test(`lets ${role} not write ${table}`, async () => {
        const [column] = await ledger.sql<[{ name: string }]>`
          select attname as name from pg_attribute
          where attrelid = ${table}::regclass and attnum > 0 order by attnum limit 1`;
        for (const statement of [
          `insert into ${table} default values`,
          `update ${table} set ${column.name} = ${column.name}`,
          `delete from ${table}`,
          `truncate ${table}`,
        ])
          expect(await refusal(ledger.as(role, (tx) => tx.unsafe(statement)))).toMatch(DENIED);
      });

  for (const role of ["anon", "authenticated"])
    test(`lets ${role} call no function`, async () => {
      for (const call of CALLS)
        expect(await refusal(ledger.as(role, (tx) => tx.unsafe(`select * from public.${call}`)))).toMatch(
          DENIED,
        );
    });
});
