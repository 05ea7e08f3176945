/** A second call is made only while the application works, and single connections that fail are no outage. */
import { describe, expect, test } from "bun:test";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { AWAY, connectionOf, lackingNetworks, seedManyOwners, seedOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const PATIENT = { patienceMinutes: 15 };

/** Each of these owners' connections gets this answer, always. */
function failing({ application }: WeeklyFixture, owners: SeededOwner[], status: number): void {
  const ids = new Set(owners.flatMap(({ connections }) => connections.map(({ id }) => id)));
  application.routes.analysis.scriptByBody = (entry) =>
    ids.has(connectionOf(entry)) ? { status } : undefined;
}

describe("runWeekly() with a second outage, when those whom the first one put back are taken again", () => {
  test("of 30 seconds: it waits once more, and every report has every network", async () => {
    const weekly = shared();
    await seedManyOwners(weekly, 60);
    const time = virtualTime();
    let calls = 0;
    let awayUntilMs = 0;
    const goAway = () => {
      awayUntilMs = time.monotonicMs() + 30_000;
    };
    let isSecondPass = false;
    weekly.application.routes.analysis.script = () => {
      calls += 1;
      if (calls === 61) goAway();
      // Fifty are done in the first pass, ten were put back.
      if (!isSecondPass && calls > 61 && weekly.gateway.accepted.length >= 52) {
        isSecondPass = true;
        goAway();
      }
      return time.monotonicMs() < awayUntilMs ? AWAY : undefined;
    };
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, time);
    expect(isSecondPass).toBe(true);
    expect(summary).toMatchObject({ status: "success", reports: { completed: 60 }, social: { failed: 0 } });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 60, lacking: [] });
    expect(time.waitsMs).toEqual([30_000, 30_000]);
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([60, 60]);
  });
});

describe("runWeekly() with connections that always fail, when all other owners are done", () => {
  test("25 that answer 500: no outage, everybody gets a report in this run", async () => {
    const weekly = shared();
    const owners = [];
    for (let i = 0; i < 75; i += 1) owners.push(await seedOwner(weekly.db.sql, { networks: ["instagram"] }));
    failing(
      weekly,
      owners.filter((_, i) => i % 3 === 0),
      500,
    );
    const summary = await weekly.run({ ...PATIENT, concurrency: 2 }, virtualTime());
    expect(summary).toMatchObject({
      error: null,
      reports: { completed: 75, failed: 0 },
      social: { failed: 25 },
    });
    expect(summary.failures[0]).toEqual({ step: "social", code: "SOCIAL_DEGRADED" });
    expect(weekly.gateway.accepted).toHaveLength(75);
  });

  test.each([500, 404])(
    "30 that answer %i, and no call was good: it waits, and does not break off",
    async (status) => {
      const weekly = shared();
      const others = await seedOwners(weekly, 2);
      for (const { tenantId } of others) await weekly.run({ tenantId });
      const owners = [];
      for (let i = 0; i < 30; i += 1)
        owners.push(await seedOwner(weekly.db.sql, { networks: ["instagram"] }));
      failing(weekly, owners, status);
      const summary = await weekly.run({ ...PATIENT, concurrency: 2 }, virtualTime());
      expect(summary).toMatchObject({
        error: null,
        reports: { completed: 30, reused: 2, failed: 0 },
        social: { failed: 30 },
      });
      expect(weekly.gateway.accepted).toHaveLength(32);
    },
  );

  test.each([1, 8])(
    "three that answer 401, %i at a time: the run does not break off",
    async (concurrency) => {
      const weekly = shared();
      const [one, two, three, ...others] = await seedOwners(weekly, 5);
      for (const { tenantId } of others) await weekly.run({ tenantId });
      failing(weekly, [one!, two!, three!], 401);
      const summary = await weekly.run({ ...PATIENT, concurrency }, virtualTime());
      expect(summary).toMatchObject({
        error: null,
        reports: { completed: 3, reused: 2, failed: 0 },
        // One of the owners whose report is made is asked, once.
        social: { calls: 6 + 1, failed: 6 },
      });
      expect(weekly.gateway.accepted).toHaveLength(5);
    },
  );
});
