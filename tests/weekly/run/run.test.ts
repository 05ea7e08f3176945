import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { seedOwner } from "../../support/seed.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

describe("runWeekly() on a healthy Monday", () => {
  test("each owner gets one report, one WhatsApp message and one e-mail; a second run sends nothing", async () => {
    await using weekly = await weeklyFixture();
    const { db, application, gateway, email } = weekly;
    const owners = [];
    for (let i = 0; i < 5; i += 1) owners.push(await seedOwner(db.sql));

    const summary = await weekly.run();

    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "written",
      reports: { scopes: 5, completed: 5, reused: 0, busy: 0, failed: 0, ineligible: 0, partialCoverage: 5 },
      social: { calls: 10, failed: 0 },
      whatsapp: { sent: 5, reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 },
      email: { sent: 5, reused: 0, failed: 0, partial: 0, unknown: 0, skipped: 0 },
      editorials: { status: "disabled" },
      failures: [],
      error: null,
    });
    expect(gateway.accepted).toHaveLength(5);
    expect(new Set(email.accepted.map(({ to }) => String(to)))).toEqual(
      new Set(owners.map((owner) => owner.email!)),
    );
    expect(existsSync(join(weekly.logDir, "weekly_performance_reports.success"))).toBe(true);
    const rows =
      await db.sql`select status, count(*)::int as n from weekly_performance_deliveries group by 1`;
    expect([...rows]).toEqual([{ status: "sent", n: 10 }]);

    const again = await weekly.run();
    expect(again).toMatchObject({
      status: "success",
      reports: { completed: 0, reused: 5 },
      whatsapp: { sent: 0, reused: 5 },
      email: { sent: 0, reused: 5 },
    });
    expect(application.analyzed).toHaveLength(10);
    expect(gateway.accepted).toHaveLength(5);
    expect(email.accepted).toHaveLength(5);
    expect([application.unexpected, gateway.unexpected, email.unexpected]).toEqual([[], [], []]);
  });
});
