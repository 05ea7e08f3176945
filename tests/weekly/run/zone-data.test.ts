import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { seedOwner } from "../../support/seed.ts";
import { isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

/** The database's functions with the zone data of 2018, when São Paulo had summer time: an hour off from November. */
const OLD_ZONE_DATA = `
  create or replace function public.weekly_performance_window(p_now timestamptz)
  returns table (window_start timestamptz, window_end timestamptz)
  language sql stable rows 1 as $$
    select timestamptz '2026-11-16T02:00:00Z', timestamptz '2026-11-23T02:00:00Z'
  $$`;

describe("a database whose zone data differ from opsctl's", () => {
  test.each([
    ["a run", {}],
    ["a dry run", { dryRun: true }],
  ])(
    "%s ends with 3: nothing is claimed or written, and no external service is called",
    async (_name, options) => {
      await using weekly = await weeklyFixture();
      await seedOwner(weekly.db.sql);
      plantHeartbeat(weekly);
      await weekly.db.sql.unsafe(OLD_ZONE_DATA);
      const before = await databaseSnapshot(weekly.db.sql);

      const summary = await weekly.run(options);

      expect(summary).toMatchObject({
        status: "not_ready",
        exitCode: 3,
        window: null,
        week: null,
        heartbeat: "kept",
        failures: [{ step: "readiness", code: "ZONE_DATA_DIFFERS" }],
        error: { code: "ZONE_DATA_DIFFERS" },
      });
      expect(summary.error!.message).toContain("2026-11-16T03:00:00Z to 2026-11-23T03:00:00Z here");
      expect(summary.error!.message).toContain("2026-11-16T02:00:00Z to 2026-11-23T02:00:00Z there");
      expect(await databaseSnapshot(weekly.db.sql)).toEqual(before);
      expect([weekly.application.ledger, weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], [], []]);
      expect(isHeartbeatKept(weekly)).toBe(true);
    },
  );
});
