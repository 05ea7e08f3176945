/** Owners whose reports are complete prove that the application works; some of their connections fail since then. */
import { describe, expect, test } from "bun:test";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { connectionOf, lackingNetworks, seedOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const PATIENT = { patienceMinutes: 15, concurrency: 1 };
const FIRST_OF_ALL = "00000000-0000-0000-0000-000000000000";

/** So many owners whose reports are complete, in the order in which they are asked. */
async function completed(weekly: WeeklyFixture, count: number) {
  const owners = await seedOwners(weekly, count);
  await weekly.run();
  const rows = await weekly.db.sql<{ id: string; userId: string }[]>`
    select id, user_id as "userId" from weekly_performance_reports order by id`;
  return rows.map(({ id, userId }) => ({
    reportId: id,
    ...owners.find((owner) => owner.userId === userId)!,
  }));
}

async function withInstagram(weekly: WeeklyFixture, count: number): Promise<SeededOwner[]> {
  const owners = [];
  for (let i = 0; i < count; i += 1) owners.push(await seedOwner(weekly.db.sql, { networks: ["instagram"] }));
  return owners;
}

/** All connections of these owners answer 500 from now on, the last one's after a good call; returns who is asked. */
function failing({ application }: WeeklyFixture, owners: SeededOwner[], last?: SeededOwner): string[] {
  const ids = new Set(owners.flatMap(({ connections }) => connections.map(({ id }) => id)));
  const asked: string[] = [];
  application.routes.analysis.scriptByBody = (entry) => {
    const { userId } = entry.body as { userId: string };
    const isFailing = ids.has(connectionOf(entry)) || (userId === last?.userId && asked.includes(userId));
    asked.push(userId);
    return isFailing ? { status: 500 } : undefined;
  };
  return asked;
}

describe("runWeekly() with complete reports whose owners' connections have failed since", () => {
  test("asks others within the run: it waits for nothing, and decides about all", async () => {
    const weekly = shared();
    const [one, two] = await completed(weekly, 4);
    const others = await withInstagram(weekly, 4);
    const broken = others.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
    // The one that is taken last works then, so that the first pass does not end in a wait.
    const last = broken.pop()!;
    const asked = failing(weekly, [one!, two!, ...broken], last);
    const time = virtualTime();
    const summary = await weekly.run(PATIENT, { ...time, runId: FIRST_OF_ALL });
    expect(summary).toMatchObject({
      error: null,
      reports: { completed: 4, reused: 4, failed: 0 },
      social: { failed: 3 },
    });
    expect(time.waitsMs).toEqual([]);
    // Each at most once in vain; then the one that works is asked each time.
    for (const { userId } of [one!, two!]) expect(asked.filter((id) => id === userId).length).toBeLessThan(2);
    expect(await lackingNetworks(weekly)).toMatchObject({ completed: 8 });
  });

  test("begins with others in each run: one that broke off for them is followed by one that goes on", async () => {
    const weekly = shared();
    const [one, two] = await completed(weekly, 4);
    failing(weekly, [one!, two!, ...(await withInstagram(weekly, 30))]);
    const short = { ...PATIENT, patienceMinutes: 1 };
    const first = await weekly.run(short, { ...virtualTime(), runId: FIRST_OF_ALL });
    expect(first).toMatchObject({ error: { code: "APP_NOT_ANSWERING" }, reports: { completed: 0 } });
    const next = await weekly.run(short, { ...virtualTime(), runId: two!.reportId });
    expect(next).toMatchObject({ error: null, reports: { completed: 30 }, social: { failed: 30 } });
  });

  test("comes to the first ones again after the last one", async () => {
    const weekly = shared();
    const [one] = await completed(weekly, 3);
    const asked = failing(weekly, await withInstagram(weekly, 1));
    await weekly.run(PATIENT, { ...virtualTime(), runId: "ffffffff-ffff-ffff-ffff-ffffffffffff" });
    expect(asked).toContain(one!.userId);
  });
});
