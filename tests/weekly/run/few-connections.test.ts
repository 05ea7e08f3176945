import { describe, expect, test } from "bun:test";
import { sharedPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { seedOwner } from "../../support/seed.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

/** The fixture with this many owners, and the address of a login that may have so many connections at a time. */
async function mondayWith(
  owners: number,
  connections: number,
): Promise<{ weekly: WeeklyFixture; databaseUrl: string }> {
  const weekly = shared();
  for (let i = 0; i < owners; i += 1) await seedOwner(weekly.db.sql);
  const login = await newLogin(weekly.db.sql, "grant service_role to");
  await weekly.db.sql.unsafe(`alter role ${login} connection limit ${connections}`);
  return { weekly, databaseUrl: (await sharedPostgres()).url(weekly.db.name, login) };
}

/** Every owner has got a message, and only one. */
function expectEachOnce(weekly: WeeklyFixture, owners: number): void {
  for (const accepted of [
    weekly.gateway.accepted.map(({ number }) => number),
    weekly.email.accepted.map(({ to }) => String(to)),
  ]) {
    expect(accepted).toHaveLength(owners);
    expect(new Set(accepted).size).toBe(owners);
  }
}

describe("runWeekly() with fewer connections than it has reports in flight", () => {
  test("a login that may have five: all is sent, with those", async () => {
    const { weekly, databaseUrl } = await mondayWith(20, 5);
    const summary = await weekly.run({ concurrency: 8 }, { databaseUrl });
    expect(summary).toMatchObject({ status: "success", heartbeat: "written", failures: [] });
    expectEachOnce(weekly, 20);
  });

  test("two runs that share eight: all is sent once", async () => {
    const { weekly, databaseUrl } = await mondayWith(40, 8);
    weekly.application.latencyMs = 20;
    const summaries = await Promise.all([1, 2].map(() => weekly.run({ concurrency: 8 }, { databaseUrl })));
    expect(summaries.map(({ error, reports }) => ({ error, failed: reports.failed }))).toEqual(
      Array(2).fill({ error: null, failed: 0 }),
    );
    expectEachOnce(weekly, 40);
  });
});
