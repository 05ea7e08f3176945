/** 401 and 409: meant for the worker itself, which breaks the run off, or for one connection, which blocks no other. */
import { describe, expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { after } from "../../standins/statement-proxy.ts";
import { type SeededOwner, seedOwner, seedOwners, setClock } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { connectionOf, lackingNetworks, reportStates } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { CLAIM_REPORT } from "../support/steps.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const PATIENT = { patienceMinutes: 15 };
const shared = sharedWeekly();

/** Owners in the order in which a run takes them. */
async function monday(count: number): Promise<{ weekly: WeeklyFixture; owners: SeededOwner[] }> {
  const weekly = shared();
  plantHeartbeat(weekly);
  const owners = await seedOwners(weekly.db.sql, count);
  owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
  return { weekly, owners };
}

/** Answers for some connections, by their id. */
function answering(weekly: WeeklyFixture, answers: Record<string, Scripted>): void {
  weekly.application.routes.analysis.scriptByBody = (entry) => answers[connectionOf(entry)];
}

describe.each([401, 409])("runWeekly() when the application answers %p", (status) => {
  const code = `APP_HTTP_${status}`;
  const refusal = { status, json: { error: "refused" } };

  test("everybody is refused: three owners are asked, nothing is sent, no drain, and the next run resumes", async () => {
    const { weekly } = await monday(5);
    weekly.application.routes.analysis.script = () => refusal;
    const time = virtualTime();
    const summary = await weekly.run({ ...PATIENT, concurrency: 1, editorials: EDITORIALS }, time);
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      error: { code },
      reports: { scopes: 5, completed: 0, failed: 3 },
      social: { calls: 3, failed: 0 },
      editorials: { status: "skipped", code, calls: 0 },
    });
    expect(time.waitsMs).toEqual([]);
    expect(weekly.application.ledger).toHaveLength(3);
    expect(await reportStates(weekly)).toEqual({ [`failed ${code}`]: 3 });
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    expect(isHeartbeatKept(weekly)).toBe(true);

    weekly.application.routes.analysis.script = null;
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 5 } });
  });

  test("everybody is refused, eight at a time: no call after those on their way, and nothing is stored or sent", async () => {
    const { weekly } = await monday(20);
    weekly.application.routes.analysis.script = () => refusal;
    const summary = await weekly.run({ ...PATIENT, concurrency: 8 }, virtualTime());
    expect(summary).toMatchObject({ exitCode: 1, error: { code }, reports: { completed: 0 } });
    expect(weekly.application.ledger.length).toBeLessThanOrEqual(8);
    expect(Object.keys(await reportStates(weekly))).toEqual([`failed ${code}`]);
    expect(await deliveryStates(weekly)).toEqual([]);
  });

  test.each<[string, number, (owners: SeededOwner[]) => SeededOwner["connections"]]>([
    ["to the first call alone", 12, ([first]) => [first!.connections[0]!]],
    ["to the first two owners", 4, ([first, second]) => [first!.connections[0]!, second!.connections[0]!]],
    ["to the second connection, the first one was good", 1, ([first]) => [first!.connections[1]!]],
  ])("%s: those connections have failed, everybody gets a report", async (_name, count, refused) => {
    const { weekly, owners } = await monday(count);
    const connections = refused(owners);
    answering(weekly, Object.fromEntries(connections.map(({ id }) => [id, refusal])));
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "written",
      error: null,
      reports: { completed: count, failed: 0 },
      // What it answered is remembered: no connection is asked twice.
      social: { calls: 2 * count, failed: connections.length },
    });
    expect(await lackingNetworks(weekly)).toEqual({
      completed: count,
      lacking: connections.map(() => code),
    });
  });

  test("the only owner with a connection is refused: nobody else can be asked, the run breaks off", async () => {
    const { weekly, owners } = await monday(1);
    const idle = await seedOwner(weekly.db.sql, { networks: [] });
    answering(weekly, { [owners[0]!.connections[0]!.id]: refusal });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({ exitCode: 1, error: { code }, reports: { failed: 1 } });
    // An owner without connections needs no application.
    expect((await reportsByOwner(weekly)).get(idle.userId)).toMatchObject({ status: "completed" });
  });
});

test("an application that says after a good call that it is not Monday, and so does the database: the run ends", async () => {
  const { weekly, owners } = await monday(3);
  const { userId, connections } = owners[2]!;
  answering(weekly, { [connections[0]!.id]: { status: 409 } });
  const midnight = after(CLAIM_REPORT, () => setClock(weekly.db.sql, "2026-11-24T03:00:00Z"), { of: userId });
  const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, { ...virtualTime(), at: [midnight] });
  expect(summary).toMatchObject({ exitCode: 1, error: { code: "MONDAY_ENDED" }, reports: { completed: 2 } });
  expect(weekly.application.routes.analysis.calls).toHaveLength(5);
});
