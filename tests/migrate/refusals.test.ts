import { expect, test } from "bun:test";
import type postgres from "postgres";
import { applyMigrations, migrationStatus } from "../../lib/migrate/run.ts";
import { MIGRATIONS } from "../../lib/schema/migrations.ts";
import { asLogin } from "../schema/support/as-login.ts";
import { newLogin } from "../support/roles.ts";
import { errorOf, withUnmigrated } from "./support/unmigrated.ts";

async function appliedVersions(sql: postgres.Sql): Promise<number[]> {
  const rows = await sql`select version from opsctl_migrations order by version`;
  return rows.map((row) => row.version);
}

test("applyMigrations() refuses an edited migration and applies nothing", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    await applyMigrations({ sql, known: MIGRATIONS.slice(0, 2) });
    await sql`update opsctl_migrations set checksum = repeat('0', 64) where version = 1`;
    expect(await errorOf(applyMigrations({ sql }))).toMatchObject({
      code: "MIGRATION_EDITED",
      message:
        "Cannot migrate: 0001_weekly_performance_clock was applied from another text than this opsctl carries",
    });
    expect(await appliedVersions(sql)).toEqual([1, 2]);
    expect((await migrationStatus({ sql })).map((row) => row.state)).toEqual([
      "edited",
      "applied",
      ...MIGRATIONS.slice(2).map(() => "pending" as const),
    ]);
  });
});

test("applyMigrations() refuses a migration that it does not know and applies nothing", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    const later = { version: 900, name: "0900_later", sql: "select 1" };
    await applyMigrations({ sql, known: [MIGRATIONS[0]!, later] });
    const ofNothingMissing = applyMigrations({ sql, known: [MIGRATIONS[0]!] });
    expect(await errorOf(ofNothingMissing)).toMatchObject({ code: "MIGRATION_UNKNOWN" });
    expect(await errorOf(applyMigrations({ sql }))).toMatchObject({
      code: "MIGRATION_UNKNOWN",
      message: "Cannot migrate: the database has 0900_later, which this opsctl does not know",
    });
    expect(await appliedVersions(sql)).toEqual([1, 900]);
    expect((await migrationStatus({ sql })).at(-1)).toMatchObject({
      version: 900,
      name: "0900_later",
      state: "unknown",
    });
  });
});

test("applyMigrations() refuses a history that became foreign while it waited", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    await applyMigrations({ sql });
    let second: Promise<unknown> | undefined;
    // Another, newer opsctl is at work, and holds the lock until this one waits for it.
    const theirs = {
      version: 900,
      name: "0900_theirs",
      get sql() {
        second ??= errorOf(
          applyMigrations({
            sql,
            known: [...MIGRATIONS, { version: 800, name: "0800_ours", sql: "select 1" }],
          }),
        );
        return `do $$ begin
          loop exit when exists (select from pg_locks where locktype = 'advisory' and not granted); end loop;
        end $$`;
      },
    };
    await applyMigrations({ sql, known: [...MIGRATIONS, theirs] });
    expect(await second!).toMatchObject({ code: "MIGRATION_UNKNOWN" });
    expect(await appliedVersions(sql)).toEqual([...MIGRATIONS.map(({ version }) => version), 900]);
  });
});

test("applyMigrations() without the application's tables names them all at once", async () => {
  await withUnmigrated({ appSchema: false }, async ({ sql }) => {
    const error = await errorOf(applyMigrations({ sql }));
    expect(error.code).toBe("DATABASE_SCHEMA_MISSING");
    for (const table of ["tenants", "users", "credit_wallets", "resend_email_events", "timeline_entries"])
      expect(error.message).toContain(`table public.${table} is missing`);
    expect(error.message).toContain("function auth.uid() is missing");
    const [record] = await sql`select to_regclass('public.opsctl_migrations') as found`;
    expect(record!.found).toBeNull();
  });
});

test("applyMigrations() names missing columns, and never tenants.status", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    await sql`alter table tenants drop column status`;
    await sql`alter table tenants drop column archived_at`;
    await sql`alter table social_channel_analyses drop column triggers, drop column reason`;
    expect(await errorOf(applyMigrations({ sql }))).toMatchObject({
      code: "DATABASE_SCHEMA_MISSING",
      message:
        "Cannot use the database: table public.social_channel_analyses lacks reason, triggers; " +
        "table public.tenants lacks archived_at",
    });
  });
});

test("applyMigrations() as a plain owner names each missing grant; with them it succeeds", async () => {
  await withUnmigrated({}, async (database) => {
    const login = await newLogin(database.sql);
    await database.sql.unsafe(`alter database ${database.name} owner to ${login}`);
    await asLogin(database, login, async (sql) => {
      const error = await errorOf(applyMigrations({ sql }));
      expect(error.code).toBe("DATABASE_GRANT_MISSING");
      const statements = error.hint!.split("\n");
      expect(statements.toSorted()).toEqual([
        "grant insert on public.timeline_entries to <owner>;",
        "grant references on public.tenants to <owner>;",
        "grant references on public.users to <owner>;",
        "grant select on public.credit_wallets to <owner>;",
        "grant select on public.tenants to <owner>;",
        "grant select on public.users to <owner>;",
        "grant usage on schema auth to <owner>;",
      ]);
      expect((await migrationStatus({ sql })).every((row) => row.state === "pending")).toBe(true);

      for (const statement of statements) await database.sql.unsafe(statement.replace("<owner>", login));
      expect((await applyMigrations({ sql })).applied.length).toBe(MIGRATIONS.length);
    });
  });
});

test("applyMigrations() accepts grants of single columns, and names only those that are missing", async () => {
  await withUnmigrated({}, async (database) => {
    const login = await newLogin(database.sql);
    await database.sql.unsafe(`
      alter database ${database.name} owner to ${login};
      grant usage on schema auth to ${login};
      grant select (id), references (id) on tenants to ${login};
      grant select (id, tenant_id, role, created_at), references (id) on users to ${login};
      grant select (tenant_id, status) on credit_wallets to ${login};
      grant insert (tenant_id, user_id, source, kind, title, metadata) on timeline_entries to ${login};`);
    await asLogin(database, login, async (sql) => {
      expect(await errorOf(applyMigrations({ sql }))).toMatchObject({
        code: "DATABASE_GRANT_MISSING",
        message: `Cannot use the database: ${login} lacks SELECT on public.tenants (archived_at)`,
        hint: "grant select (archived_at) on public.tenants to <owner>;",
      });
    });
  });
});

test("applyMigrations() by a login that may create nothing says so", async () => {
  await withUnmigrated({}, async (database) => {
    const login = await newLogin(
      database.sql,
      "grant all on all tables in schema public to",
      "grant usage on schema auth to",
    );
    await asLogin(database, login, async (sql) => {
      expect(await errorOf(applyMigrations({ sql }))).toMatchObject({
        code: "DATABASE_GRANT_MISSING",
        hint: "grant create on schema public to <owner>;",
      });
    });
  });
});

test("applyMigrations() refuses an owner from whom row security hides the tenants", async () => {
  await withUnmigrated({}, async (database) => {
    const login = await newLogin(
      database.sql,
      "grant all on all tables in schema public to",
      "grant usage on schema auth to",
      "grant create on schema public to",
    );
    await database.sql`alter table tenants enable row level security`;
    await asLogin(database, login, async (sql) => {
      expect(await errorOf(applyMigrations({ sql }))).toMatchObject({
        code: "DATABASE_ROW_SECURITY",
        hint: "alter role <owner> bypassrls;",
      });
    });
  });
});

test("migrationStatus() says so when the record is closed to the login, by grant or by row security", async () => {
  await withUnmigrated({}, async (database) => {
    await applyMigrations({ sql: database.sql });
    const login = await newLogin(database.sql);
    for (const grant of ["select 1", `grant select on opsctl_migrations to ${login}`]) {
      await database.sql.unsafe(grant);
      await asLogin(database, login, async (sql) => {
        expect(await errorOf(migrationStatus({ sql }))).toMatchObject({ code: "DATABASE_GRANT_MISSING" });
      });
    }
    await database.sql.unsafe(`grant service_role to ${login}`);
    await asLogin(database, login, async (sql) => {
      expect((await migrationStatus({ sql })).every((row) => row.state === "applied")).toBe(true);
    });
  });
});
