import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { applyMigrations } from "../../lib/migrate/run.ts";
import { MIGRATIONS } from "../../lib/schema/migrations.ts";
import { sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { withUnmigrated } from "./support/unmigrated.ts";

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
const ALL = MIGRATIONS.map((migration) => migration.name);

async function migrate(url: string, env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, [MAIN, "migrate", ...args], {
    env: { DATABASE_URL: url, PATH: process.env.PATH ?? "", OPSCTL_ENV_DIR: "", ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const exitCode = await new Promise((resolve) => child.once("close", resolve));
  return { exitCode, stdout };
}

test("opsctl migrate applies everything once, and --status tells", async () => {
  await withUnmigrated({}, async ({ url }) => {
    const before = await migrate(url, {}, "--status", "--json");
    expect(before.exitCode).toBe(3);
    expect(JSON.parse(before.stdout)).toMatchObject({
      command: "migrate",
      status: "not_ready",
      applied: [],
      migrations: ALL.map((name) => ({ name, state: "pending", appliedAt: null })),
    });

    const runs = await Promise.all([migrate(url, {}, "--json"), migrate(url, {}, "--json")]);
    expect(runs.map((run) => run.exitCode)).toEqual([0, 0]);
    expect(runs.flatMap((run) => JSON.parse(run.stdout).applied).toSorted()).toEqual(ALL);

    expect(await migrate(url, {})).toEqual({
      exitCode: 0,
      stdout: "Nothing to apply: the database is up to date.\n",
    });
    const after = await migrate(url, {}, "--status");
    expect(after.exitCode).toBe(0);
    expect(after.stdout).toMatch(/^MIGRATION +STATE +APPLIED AT\n0001_weekly_performance_clock +applied +20/);
  });
});

test("opsctl migrate with a login that owns nothing asks for the owner's first, whatever it lacks", async () => {
  await withUnmigrated({}, async ({ sql, name }) => {
    const role = await newLogin(sql, "grant service_role to");
    const login = (await sharedPostgres()).url(name, role);
    const failure = async () => JSON.parse((await migrate(login, {}, "--json")).stdout).error;
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
    expect([both.exitCode, JSON.parse(both.stdout).applied]).toEqual([0, ALL]);
    const unusable = await migrate(url, { MIGRATE_DATABASE_URL: "mysql://u:canary@h/d" }, "--json");
    expect(unusable.exitCode).toBe(3);
    expect(JSON.parse(unusable.stdout).error).toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("  MIGRATE_DATABASE_URL: is not a postgres:// URL"),
    });
    expect(unusable.stdout).not.toContain("canary");
  });
});

test("opsctl migrate on a database without the application exits 3 and says what is missing", async () => {
  await withUnmigrated({ appSchema: false }, async ({ url }) => {
    const { exitCode, stdout } = await migrate(url, {}, "--json");
    expect(exitCode).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      command: "migrate",
      status: "not_ready",
      exitCode: 3,
      error: { code: "DATABASE_SCHEMA_MISSING" },
    });
  });
});
