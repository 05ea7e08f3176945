import { expect, test } from "bun:test";
import { applyMigrations } from "../../lib/migrate/run.ts";
import { MIGRATIONS } from "../../lib/schema/migrations.ts";
import { opsctl } from "../e2e/support/opsctl.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { withUnmigrated } from "./support/unmigrated.ts";

const ALL = MIGRATIONS.map((migration) => migration.name);

const migrate = (url: string, env: Record<string, string>, ...args: string[]) =>
  opsctl(["migrate", ...args], { env: { DATABASE_URL: url, OPSCTL_ENV_DIR: "", ...env } });

test("opsctl migrate with a login that owns nothing asks for the owner's first, whatever it lacks", async () => {
  await withUnmigrated({}, async ({ sql, name }) => {
    const role = await newLogin(sql, "grant service_role to");
    const login = (await sharedPostgres()).url(name, role);
    const failure = async () => (await migrate(login, {}, "--json")).json.error as Record<string, string>;
    const asOwner =
      "Migrate as the owner of the schema: opsctl secret set MIGRATE_DATABASE_URL asks for that login\n" +
      "Where DATABASE_URL is the owner's already:\n";
    const denied = await failure();
    expect(denied.code).toBe("DATABASE_GRANT_MISSING");
    expect(denied.hint).toStartWith(`${asOwner}grant `);
    // All that a grant can give: what another login made stays that login's.
    await applyMigrations({ sql, known: MIGRATIONS.slice(0, 2) });
    await sql.unsafe(
      `grant create on schema public to ${role}; grant all on all tables in schema public to ${role}`,
    );
    const stopped = await failure();
    expect([stopped.code, stopped.message]).toEqual([
      "MIGRATION_FAILED",
      expect.stringContaining("SQL state 42501"),
    ]);
    expect(stopped.hint).toStartWith("Migrate as the owner of the schema: ");
  });
});

test("opsctl migrate takes the owner's login before that of the run, and never quotes one that it cannot use", async () => {
  await withUnmigrated({}, async ({ sql, name, url }) => {
    const role = await newLogin(sql, "grant service_role to");
    const ofRun = (await sharedPostgres()).url(name, role);
    const both = await migrate(ofRun, { MIGRATE_DATABASE_URL: url }, "--json");
    expect([both.exitCode, both.json.applied]).toEqual([0, ALL]);
    const unusable = await migrate(url, { MIGRATE_DATABASE_URL: "mysql://u:canary@h/d" }, "--json");
    expect(unusable.exitCode).toBe(3);
    expect(unusable.json.error).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("  MIGRATE_DATABASE_URL: is not a postgres:// URL"),
    });
    expect(unusable.stdout).not.toContain("canary");
  });
});

test("opsctl migrate on a database without the application exits 3 and says what is missing", async () => {
  await withUnmigrated({ appSchema: false }, async ({ url }) => {
    const { exitCode, json } = await migrate(url, {}, "--json");
    expect(exitCode).toBe(3);
    expect(json).toMatchObject({
      command: "migrate",
      status: "not_ready",
      exitCode: 3,
      error: { code: "DATABASE_SCHEMA_MISSING" },
    });
  });
});
