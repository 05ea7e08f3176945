/** A database that an older opsctl migrated and used. */
import { expect, test } from "bun:test";
import { showDelivery } from "../../lib/deliveries/show.ts";
import { applyMigrations } from "../../lib/migrate/run.ts";
import { openDatabase } from "../../lib/platform/database/pool.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { MIGRATIONS } from "../../lib/schema/migrations.ts";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { opsctl } from "../e2e/support/opsctl.ts";
import { Ledger, MAJORS } from "../sql/support/ledger.ts";
import { HOSTED_DEFAULT_PRIVILEGES, sharedPostgres, type TestDatabase } from "../support/postgres.ts";
import { MONDAY } from "../support/seed.ts";

const OLDER = MIGRATIONS.slice(0, 4);
const PENDING = MIGRATIONS.slice(4)
  .map(({ name }) => name)
  .join(", ");

async function withOlder(
  major: number | undefined,
  work: (database: TestDatabase, ledger: Ledger) => Promise<void>,
): Promise<void> {
  const database = await (await sharedPostgres(major)).createDatabase({ migrated: false });
  try {
    await database.sql.unsafe(HOSTED_DEFAULT_PRIVILEGES).simple();
    await applyMigrations({ sql: database.sql, known: OLDER });
    await work(database, new Ledger(() => database, major));
  } finally {
    await database.drop();
  }
}

for (const major of MAJORS) {
  test(`keeps its records when it is migrated, on PostgreSQL ${major ?? "18"}`, async () => {
    await withOlder(major, async (database, ledger) => {
      await ledger.setClock(MONDAY);
      const [before, after] = [await ledger.unknownDelivery("email"), await ledger.unknownDelivery("email")];
      await ledger.reconcile(before.id, "failed", null, "Not in the log", "ana");
      const reports = () => database.sql`select * from weekly_performance_reports order by id`;
      const asTheyWere = await reports();

      const { applied } = await applyMigrations({ sql: database.sql });
      expect(applied).toEqual(MIGRATIONS.slice(4).map(({ name }) => name));
      expect(Array.from(await reports())).toEqual(asTheyWere.map((row) => ({ ...row, pruned_at: null })));
      await ledger.reconcile(after.id, "failed", null, "Not in the log", "ana");
      const { sql, close } = await openDatabase(new Secret(database.url), {
        max: 1,
        applicationName: "test",
      });
      const sessionUserOf = async (id: string) =>
        (await showDelivery(sql, id)).reconciliations.map(({ sessionUser }) => sessionUser);
      expect([await sessionUserOf(before.id), await sessionUserOf(after.id)]).toEqual([[null], ["postgres"]]);
      await close();
      expect(await checkReadiness(database.sql)).toEqual([]);
    });
  });
}

test("leaves the application's tables open until its own work on many rows is done", async () => {
  await withOlder(undefined, async ({ sql }, ledger) => {
    await applyMigrations({ sql, known: MIGRATIONS.slice(0, 5) });
    const reading = await sql.reserve();
    // Who reads opsctl's own rows holds the migration up, as years of rows do.
    await reading`begin`;
    await reading`select from weekly_performance_reconciliations`;
    const migrating = applyMigrations({ sql });
    await ledger.untilWaiting();
    await sql.begin(async (application) => {
      await application`set local lock_timeout = 100`;
      const owner = await application`insert into tenants (name) values ('New') returning id`;
      await application`insert into users (tenant_id, role) values (${owner[0]!.id}, 'owner')`;
    });
    await reading`commit`;
    reading.release();
    expect((await migrating).applied).toEqual(MIGRATIONS.slice(5).map(({ name }) => name));
  });
});

test("loses what a platform has granted on the reports in between, to any role", async () => {
  await withOlder(undefined, async ({ sql }) => {
    await sql`grant all on weekly_performance_reports to public, anon, authenticated, service_role`;
    await applyMigrations({ sql });
    const granted = await sql`
      select coalesce(r.rolname, 'PUBLIC') || ' ' || a.privilege_type as granted
      from pg_class as c cross join aclexplode(c.relacl) as a left join pg_roles as r on r.oid = a.grantee
      where c.oid = 'public.weekly_performance_reports'::regclass and a.grantee <> c.relowner`;
    expect(granted.map((row) => row.granted)).toEqual(["service_role SELECT"]);
  });
});

test("is not ready before, by its record, nor without what the files bring, whatever the record says", async () => {
  await withOlder(undefined, async ({ sql, url }) => {
    const problems = async () => (await checkReadiness(sql)).map(({ code, message }) => [code, message]);
    expect(await problems()).toEqual([
      ["DATABASE_NOT_MIGRATED", `Cannot use the database: not migrated to ${PENDING}`],
    ]);
    const doctor = await opsctl(["doctor", "deliveries", "--json"], { env: { DATABASE_URL: url } });
    expect(doctor.exitCode).toBe(3);
    expect(doctor.json.findings).toContainEqual(
      expect.objectContaining({ check: "database schema", status: "fail", code: "DATABASE_NOT_MIGRATED" }),
    );
    const withoutColumn = [
      [
        "DATABASE_NOT_MIGRATED",
        "Cannot use the database: table public.weekly_performance_reconciliations lacks session_user_name",
      ],
    ];
    await applyMigrations({ sql });
    await sql`alter table weekly_performance_reconciliations drop column session_user_name`;
    expect(await problems()).toEqual(withoutColumn);
    await sql`drop table opsctl_migrations`;
    expect(await problems()).toEqual(withoutColumn);
  });
});
