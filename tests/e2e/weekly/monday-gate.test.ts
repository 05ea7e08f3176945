import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";

const SKIPS = ["--skip-whatsapp", "--skip-email", "--skip-editorials"];
const CLOSED = [
  ["Tuesday 00:00:00", "2026-11-24T03:00:00Z"],
  ["Tuesday noon", "2026-11-24T15:00:00Z"],
  ["Sunday 23:59:59", "2026-11-23T02:59:59Z"],
  // Monday in UTC, still Sunday in São Paulo, in a year with summer time there.
  ["Sunday 23:59:59 of 2018", "2018-11-05T01:59:59Z"],
] as const;
const OPEN = [
  ["Monday 00:00:00", "2026-11-23T03:00:00Z", "2026-11-16"],
  ["Monday 23:59:59", "2026-11-24T02:59:59Z", "2026-11-16"],
  ["Monday 00:00:00 of 2018", "2018-11-05T02:00:00Z", "2018-10-29"],
] as const;

describe.concurrent("opsctl weekly outside Monday", () => {
  test("is refused, writes nothing and calls nobody", async () => {
    await using fixture = await openFixture({ editorials: true, clock: "2026-11-24T15:00:00Z" });
    await seedOwner(fixture.db.sql);
    const before = await databaseSnapshot(fixture.db.sql);

    const refused = await fixture.weekly(["--json"]);
    const forPeople = await fixture.weekly([]);
    const skipping = await fixture.weekly(["--json", ...SKIPS]);

    for (const { exitCode, summary } of [refused, skipping]) {
      expect(exitCode).toBe(4);
      expect(summary).toMatchObject({
        status: "refused",
        exitCode: 4,
        heartbeat: "kept",
        window: { week: "2026-11-16" },
        reports: { scopes: 0 },
        error: { code: "WEEKLY_OUTSIDE_MONDAY" },
      });
    }
    expect(forPeople.exitCode).toBe(4);
    expect(forPeople.stdout).toContain("WEEKLY_OUTSIDE_MONDAY");
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect(fixture.requests()).toEqual([]);
    expect(fixture.heartbeat.isOld()).toBe(true);
  });
});

describe.concurrent("opsctl weekly at the edges of Monday", () => {
  test.each([...CLOSED])("%s is refused, with all that can be skipped skipped too", async (_name, clock) => {
    await using fixture = await openFixture({ clock });
    await seedOwner(fixture.db.sql);
    const before = await databaseSnapshot(fixture.db.sql);

    const all = [await fixture.weekly(["--json"]), await fixture.weekly(["--json", ...SKIPS])];

    expect(all.map(({ exitCode }) => exitCode)).toEqual([4, 4]);
    expect(await databaseSnapshot(fixture.db.sql)).toEqual(before);
    expect(fixture.requests()).toEqual([]);
    expect(fixture.heartbeat.isOld()).toBe(true);
  });

  test.each([...OPEN])("%s is Monday", async (_name, clock, week) => {
    await using fixture = await openFixture({ clock });
    await seedOwner(fixture.db.sql);

    const { exitCode, summary } = await fixture.weekly(["--json"]);

    expect({ exitCode, week: summary.window?.week }).toEqual({ exitCode: 0, week });
    expect(summary).toMatchObject({ whatsapp: { sent: 1 }, email: { sent: 1 }, heartbeat: "written" });
  });
});
