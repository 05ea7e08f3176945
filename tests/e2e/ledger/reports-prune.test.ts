import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { openFixture } from "../support/fixture.ts";

describe.concurrent("opsctl reports prune", () => {
  test("refuses a young week with 2, and removes the content of an old one", async () => {
    await using fixture = await openFixture();
    const { sql } = fixture.db;
    await seedOwner(sql);
    await fixture.weekly(["--json"]);
    const prune = (...args: string[]) => fixture.opsctl(["reports", "prune", ...args]);
    const before = await databaseSnapshot(sql);

    const young = await prune("--before", "2026-11-23", "--json");
    const notMonday = await prune("--before", "2026-11-24");
    const without = await prune();

    expect(young.exitCode).toBe(2);
    expect(young.json).toMatchObject({
      command: "reports prune",
      error: { code: "PRUNE_WEEK_TOO_YOUNG", hint: "The latest date is 2026-09-28 now" },
    });
    expect([notMonday.exitCode, without.exitCode]).toEqual([2, 2]);
    expect(notMonday.stderr).toContain("expects the date of a Monday");
    expect(await databaseSnapshot(sql)).toEqual(before);

    await setClock(sql, "2027-01-19T11:00:00Z");
    const old = await prune("--before", "2026-11-23", "--json");
    const again = await prune("--before", "2026-11-23");

    expect(old.exitCode, old.stderr).toBe(0);
    expect(old.json).toEqual({
      command: "reports prune",
      status: "success",
      exitCode: 0,
      before: "2026-11-23",
      reports: 1,
      left: false,
      error: null,
    });
    expect(again.stdout).toBe(
      "Removed the content of 0 reports of weeks before 2026-11-23; that they were made, and sent, stays.\n",
    );
    const [row] = await sql`
      select status, payload, evidence, fingerprint is not null as fingerprint from weekly_performance_reports`;
    expect({ ...row }).toEqual({ status: "completed", payload: null, evidence: null, fingerprint: true });
    const deliveries = await sql`select status from weekly_performance_deliveries`;
    expect(deliveries.map(({ status }) => status)).toEqual(["sent", "sent"]);
  });
});
