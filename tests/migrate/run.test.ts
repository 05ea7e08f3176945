import { expect, test } from "bun:test";
import type postgres from "postgres";
import { applyMigrations, migrationStatus } from "../../lib/migrate/run.ts";
import { MIGRATIONS } from "../../lib/schema/migrations.ts";
import { checkReadiness } from "../../lib/schema/readiness.ts";
import { connect, HOSTED_DEFAULT_PRIVILEGES } from "../support/postgres.ts";
import { errorOf, withUnmigrated } from "./support/unmigrated.ts";

const ALL = MIGRATIONS.map((migration) => migration.name);
const states = async (sql: postgres.Sql) => (await migrationStatus({ sql })).map((row) => row.state);

test("applyMigrations() applies every file in order and records its checksum", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    expect(await states(sql)).toEqual(ALL.map(() => "pending"));
    const { applied, migrations } = await applyMigrations({ sql });
    expect(applied).toEqual(ALL);
    expect(migrations.map(({ version, name, state }) => ({ version, name, state }))).toEqual(
      MIGRATIONS.map(({ version, name }) => ({ version, name, state: "applied" as const })),
    );
    for (const { appliedAt } of migrations) expect(appliedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await checkReadiness(sql)).toEqual([]);
  });
});

test("the record takes no row that names no file of its own, or not its whole checksum", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    await applyMigrations({ sql });
    const row = { version: 900, name: "0900_later", checksum: "0".repeat(64) };
    const refusals: [object, string][] = [
      [{ version: 1 }, "23505"],
      [{ name: ALL[0] }, "23505"],
      [{ name: null }, "23502"],
      [{ checksum: null }, "23502"],
      [{ checksum: "0".repeat(65) }, "23514"],
      [{ checksum: `x${"0".repeat(64)}` }, "23514"],
      [{ applied_at: null }, "23502"],
    ];
    for (const [change, code] of refusals) {
      const insert = sql`insert into opsctl_migrations ${sql({ ...row, ...change })}`;
      expect(await errorOf(insert)).toMatchObject({ code });
    }
    const kept =
      await sql`insert into opsctl_migrations ${sql(row)} returning applied_at = now() as is_of_now`;
    expect(Array.from(kept)).toEqual([{ is_of_now: true }]);
  });
});

test("applyMigrations() twice at once succeeds in both, and applies each file once", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    const runs = await Promise.all([applyMigrations({ sql }), applyMigrations({ sql })]);
    expect(runs.flatMap((run) => run.applied).sort()).toEqual(ALL);
    for (const run of runs) expect(run.migrations.every((row) => row.state === "applied")).toBe(true);
  });
});

test("applyMigrations() records files that were applied by hand", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    for (const migration of MIGRATIONS) await sql.unsafe(migration.sql).simple();
    expect(await states(sql)).toEqual(ALL.map(() => "pending"));
    // Nothing is recorded yet, but everything is there: a run may work.
    expect(await checkReadiness(sql)).toEqual([]);
    expect((await applyMigrations({ sql })).applied).toEqual(ALL);
    expect(await states(sql)).toEqual(ALL.map(() => "applied"));
  });
});

test("every SQL file may be applied again without changing a grant, a policy or a row", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    await sql.unsafe(HOSTED_DEFAULT_PRIVILEGES).simple();
    await applyMigrations({ sql });
    const before = await schemaOf(sql);
    for (const migration of MIGRATIONS) await sql.unsafe(migration.sql).simple();
    expect(await schemaOf(sql)).toEqual(before);
  });
});

test("applyMigrations() leaves nothing of a file that fails, and keeps the files before it", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    const broken = {
      version: 3,
      name: "0003_broken",
      sql: "create table public.half_done (id int); select 1 / 0;",
    };
    const known = [...MIGRATIONS.slice(0, 2), broken];
    expect(await errorOf(applyMigrations({ sql, known }))).toMatchObject({
      code: "MIGRATION_FAILED",
      message: "Cannot apply 0003_broken: SQL state 22012, division by zero",
      hint: "Nothing of this file was kept; the files before it are applied",
    });
    const [half] = await sql`select to_regclass('public.half_done') as found`;
    expect(half!.found).toBeNull();
    expect((await migrationStatus({ sql, known })).map((row) => row.state)).toEqual([
      "applied",
      "applied",
      "pending",
    ]);
  });
});

test("applyMigrations() gives up on a table that stays busy, and says so", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    await sql.begin(async (tx) => {
      await tx`lock table users in row exclusive mode`;
      const error = await errorOf(applyMigrations({ sql, lockTimeoutMs: 20 }));
      expect(error).toMatchObject({ code: "MIGRATION_FAILED" });
      expect(error.message).toStartWith("Cannot apply 0002_weekly_performance_reports: SQL state 55P03");
      expect(error.hint).toContain("when the application is quiet");
    });
    await applyMigrations({ sql });
  });
});

test("applyMigrations() ended by a deadlock says what to do", async () => {
  await withUnmigrated({}, async ({ sql }) => {
    const deadlock = "do $$ begin raise exception using errcode = '40P01'; end $$";
    const known = [{ version: 1, name: "0001_deadlock", sql: deadlock }];
    const error = await errorOf(applyMigrations({ sql, known }));
    expect(error).toMatchObject({ code: "MIGRATION_FAILED" });
    expect(error.message).toStartWith("Cannot apply 0001_deadlock: SQL state 40P01");
    expect(error.hint).toContain("when the application is quiet");
  });
});

test("applyMigrations() is not cut off by the time limits of login or server", async () => {
  await withUnmigrated({}, async ({ sql, name, url }) => {
    const limits = ["statement_timeout", "transaction_timeout", "idle_in_transaction_session_timeout"];
    for (const limit of limits) await sql.unsafe(`alter database ${name} set ${limit} = '1h'`);
    const limited = connect(url, 1);
    const asks = limits.map((limit) => `select 1 / (current_setting('${limit}') = '0')::int`).join(";");
    const known = [{ version: 1, name: "0001_asks", sql: asks }];
    expect(await applyMigrations({ sql: limited, known })).toMatchObject({ applied: ["0001_asks"] });
    await limited.end();
  });
});

/** Columns, constraints, indexes, policies, triggers, functions and grants, as text. */
async function schemaOf(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql`
    select 'relation ' || relname || ' ' || coalesce(relacl::text, '') || relrowsecurity as line
    from pg_class where relnamespace = 'public'::regnamespace
    union all select 'column ' || attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod)
    from pg_attribute join pg_class as c on c.oid = attrelid
    where c.relnamespace = 'public'::regnamespace and attnum > 0
    union all select 'constraint ' || conname || ' ' || pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
    union all select 'policy ' || polname || ' ' || pg_get_expr(polqual, polrelid) from pg_policy
    union all select 'trigger ' || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select 'function ' || pg_get_functiondef(oid) || coalesce(proacl::text, '')
    from pg_proc where pronamespace = 'public'::regnamespace
    order by 1`;
  expect(rows.length).toBeGreaterThan(100);
  return rows.map((row) => row.line);
}
