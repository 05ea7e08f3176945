import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { MONDAY, seedOwner, setClock } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";

describe.concurrent("opsctl migrate", () => {
  test("makes a database ready for the weekly run, once", async () => {
    await using fixture = await openFixture({ migrated: false });
    const { db } = fixture;
    await seedOwner(db.sql);
    // The owner of the schema migrates; the weekly run's own login is a member of service_role.
    const asOwner = { env: { OPSCTL_SECRETS_DIR: fixture.folder, DATABASE_URL: db.url } };

    const early = await fixture.weekly(["--json"]);
    const before = await databaseSnapshot(db.sql);
    const pending = await fixture.opsctl(["migrate", "--status", "--json"], asOwner);
    const untouched = await databaseSnapshot(db.sql);
    const applied = await fixture.opsctl(["migrate", "--json"], asOwner);
    const migrated = await databaseSnapshot(db.sql);
    const again = await fixture.opsctl(["migrate", "--json"], asOwner);
    const nothing = await fixture.opsctl(["migrate"], asOwner);
    const status = await fixture.opsctl(["migrate", "--status"], asOwner);
    const after = await databaseSnapshot(db.sql);

    expect(early.exitCode).toBe(3);
    expect(early.summary).toMatchObject({ status: "not_ready", error: { code: "DATABASE_NOT_MIGRATED" } });
    expect(pending.exitCode).toBe(3);
    expect(pending.json).toMatchObject({ command: "migrate", exitCode: 3, applied: [] });
    expect(untouched).toEqual(before);
    expect(applied.exitCode, applied.stderr).toBe(0);
    const { migrations, applied: names } = applied.json as { migrations: unknown[]; applied: unknown[] };
    expect(names.length).toBeGreaterThan(0);
    expect(migrations).toHaveLength(names.length);
    expect(again.json).toMatchObject({ exitCode: 0, applied: [] });
    expect(nothing.stdout).toBe("Nothing to apply: the database is up to date.\n");
    expect(status.exitCode).toBe(0);
    expect(status.stdout).toMatch(
      /^MIGRATION +STATE +APPLIED AT\n0001_weekly_performance_clock +applied +20/,
    );
    expect(status.stdout.match(/\bapplied\b/g)).toHaveLength(names.length);
    expect(after).toEqual(migrated);

    await setClock(db.sql, MONDAY);
    const run = await fixture.weekly(["--json"]);
    expect(run.exitCode, run.stderr).toBe(0);
    expect(run.summary.whatsapp.sent).toBe(1);
  });
});
