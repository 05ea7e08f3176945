import { describe, expect, test } from "bun:test";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyMigrations } from "../../../lib/migrate/run.ts";
import { MIGRATIONS } from "../../../lib/schema/migrations.ts";
import { connect, PASSWORD, sharedPostgres, startPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { seedOwner } from "../../support/seed.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

/** Each of them ends or changes a session that opsctl does not protect against it. */
const SETTINGS = {
  quote_all_identifiers: "on",
  transaction_timeout: "400ms",
  idle_in_transaction_session_timeout: "400ms",
  statement_timeout: "5s",
  lock_timeout: "5s",
  default_transaction_isolation: "repeatable read",
  search_path: "nowhere",
  DateStyle: "SQL, DMY",
  TimeZone: "Asia/Tokyo",
  plan_cache_mode: "force_generic_plan",
};
const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };

describe("settings of the login", () => {
  test("settings of the login change nothing for a run whose drain takes longer than any of their limits", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await seedOwner(sql);
    const login = await newLogin(sql, "grant service_role to");
    for (const [name, value] of Object.entries(SETTINGS))
      await sql.unsafe(`alter role ${login} set ${name} = '${value}'`);
    const databaseUrl = (await sharedPostgres()).url(weekly.db.name, login);

    expect(await weekly.run({ dryRun: true }, { databaseUrl })).toMatchObject({ status: "ready" });
    // Longer than the login's limits of a transaction and of an idle one.
    weekly.application.editorials.push({ truncated: true, nextCursor: "c1", llmCalls: 0, failures: [] });
    weekly.onEditorial = () => sql`select pg_sleep(0.8)`;
    expect(await weekly.run({ editorials: EDITORIALS }, { databaseUrl })).toMatchObject({
      status: "success",
      failures: [],
      editorials: { status: "completed", calls: 2 },
    });
  });

  test("settings of the login change nothing for a migration that takes longer than their limit of a statement", async () => {
    const database = await (await sharedPostgres()).createDatabase({ migrated: false });
    try {
      await applyMigrations({ sql: database.sql });
      await database.sql.unsafe(`alter database ${database.name} set statement_timeout = '200ms'`);
      await database.sql.unsafe(`alter database ${database.name} set transaction_timeout = '400ms'`);
      const sql = connect(database.url);
      const slow = { version: 900, name: "0900_slow", sql: "select pg_sleep(0.6)" };
      expect((await applyMigrations({ sql, known: [...MIGRATIONS, slow] })).applied).toEqual(["0900_slow"]);
      await sql.end();
    } finally {
      await database.drop();
    }
  });
});

test("a run goes through the Unix socket that the URL's host names", async () => {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-socket-"));
  if (process.getuid?.() === 0) chownSync(directory, 65_534, 65_534);
  const server = await startPostgres({ inMemory: true, settings: { unix_socket_directories: directory } });
  try {
    await using weekly = await weeklyFixture({ server });
    await seedOwner(weekly.db.sql);
    const databaseUrl = `postgres://postgres:${PASSWORD}@/${weekly.db.name}?host=${directory}&port=${server.port}`;
    expect(await weekly.run({}, { databaseUrl })).toMatchObject({ status: "success" });
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
});
