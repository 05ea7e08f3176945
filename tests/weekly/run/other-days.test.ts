import { describe, expect, test } from "bun:test";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();
const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const ALL_SKIPPED = { skipWhatsapp: true, skipEmail: true, skipEditorials: true };

describe("runWeekly() outside Monday in America/Sao_Paulo", () => {
  test.each<[string, Partial<WeeklyOptions>]>([
    ["2026-11-24T03:00:00Z", {}],
    ["2026-11-23T02:59:59.999Z", {}],
    ["2026-11-22T12:00:00Z", {}],
    ["2026-11-24T11:00:00Z", ALL_SKIPPED],
    ["2026-11-25T11:00:00Z", { editorials: EDITORIALS }],
    ["2018-11-05T01:59:59Z", {}],
    ["2019-11-04T02:30:00Z", {}],
  ])(
    "a run on %s is refused: not a byte of the database changes, and no external service is called",
    async (clock, options) => {
      const weekly = shared();
      await seedOwner(weekly.db.sql);
      await setClock(weekly.db.sql, clock);
      plantHeartbeat(weekly);
      const before = await databaseSnapshot(weekly.db.sql);

      const summary = await weekly.run(options);

      expect(summary).toMatchObject({
        status: "refused",
        exitCode: 4,
        heartbeat: "kept",
        retryableUntil: null,
        error: { code: "WEEKLY_OUTSIDE_MONDAY" },
        reports: { scopes: 0 },
      });
      expect(summary.window).not.toBeNull();
      expect(await databaseSnapshot(weekly.db.sql)).toEqual(before);
      expect([weekly.application.ledger, weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], [], []]);
      expect(isHeartbeatKept(weekly)).toBe(true);
    },
  );

  test.each([
    ["2026-11-23T03:00:00Z", "2026-11-16", "2026-11-16T03:00:00Z", "2026-11-23T03:00:00Z"],
    ["2026-11-24T02:59:59Z", "2026-11-16", "2026-11-16T03:00:00Z", "2026-11-23T03:00:00Z"],
    ["2018-11-05T02:00:00Z", "2018-10-29", "2018-10-29T03:00:00Z", "2018-11-05T02:00:00Z"],
    ["2019-02-18T11:00:00Z", "2019-02-11", "2019-02-11T02:00:00Z", "2019-02-18T03:00:00Z"],
  ])("%s is a Monday there: a whole run, for the week of %s", async (clock, week, start, end) => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    await setClock(weekly.db.sql, clock);
    expect(await weekly.run()).toMatchObject({
      status: "success",
      heartbeat: "written",
      window: { start, end, week },
      whatsapp: { sent: 1 },
      email: { sent: 1 },
    });
    expect(weekly.application.analyzed).toHaveLength(2);
    for (const body of weekly.application.analyzed) {
      expect(body).toMatchObject({ windowStart: start, windowEnd: end });
    }
    expect(weekly.gateway.accepted[0]!.text).toContain(`/app/performance?week=${week}`);
  });
});
