import { describe, expect, test } from "bun:test";
import type { Store } from "../../../lib/weekly/database/store.ts";
import { seedOwner } from "../../support/seed.ts";
import { deliveryStates, plantHeartbeat, reportsByOwner, until } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { FixtureChanges, WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const never = () => new Promise<never>(() => {});

type Step = Exclude<keyof Store, "withDrainLock">;

/**
 * A process that dies around one step: everything that it would still do never happens.
 *
 * Behaviour: the run is left behind once the step is reached: that step never returns.
 */
async function dieAt(
  weekly: WeeklyFixture,
  step: Step,
  when: "before" | "after",
  channel?: string,
): Promise<void> {
  const died = Promise.withResolvers<void>();
  const die = () => {
    died.resolve();
    return never();
  };
  let email = false;
  const wrapStore: NonNullable<FixtureChanges["wrapStore"]> = (store) => ({
    async claimEmail(...args) {
      email = true;
      if (step === "claimEmail" && when === "before") return await die();
      const claim = await store.claimEmail(...args);
      return step === "claimEmail" ? await die() : claim;
    },
    ...(step === "claimEmail"
      ? {}
      : {
          [step]: async (...args: never[]) => {
            const call = () => (store[step] as (...given: never[]) => Promise<unknown>)(...args);
            if (channel !== undefined && (channel === "email") !== email) return await call();
            if (when === "after") await call();
            return await die();
          },
        }),
  });
  void weekly.run({}, { wrapStore });
  await died.promise;
}

/** A process that dies while the peer works on its call: the peer has done its part. */
async function dieInside(weekly: WeeklyFixture, peer: "analysis" | "whatsapp" | "email"): Promise<void> {
  const { application, gateway, email } = weekly;
  const { route, done } = {
    analysis: { route: application.routes.analysis, done: application.analyzed },
    whatsapp: { route: gateway.routes.send, done: gateway.accepted },
    email: { route: email.routes.send, done: email.accepted },
  }[peer];
  route.script = () => ({ accept: "hang" });
  void weekly.run(
    {},
    {
      wrapStore: (store) => ({
        settleDelivery: async (...args) => (done.length > 0 ? never() : store.settleDelivery(...args)),
        failReport: never,
      }),
    },
  );
  await until(() => done.length > 0);
  route.script = null;
}

async function oneOwner(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql, { networks: ["instagram"] });
  plantHeartbeat(weekly);
  return weekly;
}

async function endLeases({ db }: WeeklyFixture): Promise<void> {
  await db.sql`update weekly_performance_reports set lease_expires_at = weekly_performance_now() where status = 'running'`;
  await db.sql`update weekly_performance_deliveries set lease_expires_at = weekly_performance_now() where status = 'running'`;
}

/** After the leases: two more runs. No owner has two messages; a message that was never sent is sent now or unknown. */
async function expectRecovered(weekly: WeeklyFixture, unknown: ("whatsapp" | "email")[]): Promise<void> {
  await endLeases(weekly);
  for (let run = 0; run < 2; run += 1) {
    const summary = await weekly.run();
    expect(summary).toMatchObject({
      exitCode: unknown.length === 0 ? 0 : 1,
      heartbeat: unknown.length === 0 ? "written" : "kept",
      whatsapp: { unknown: unknown.includes("whatsapp") ? 1 : 0, failed: 0, partial: 0 },
      email: { unknown: unknown.includes("email") ? 1 : 0, failed: 0, partial: 0 },
    });
  }
  expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([{ status: "completed", stored: true }]);
  expect(await deliveryStates(weekly)).toEqual(
    (["email", "whatsapp"] as const).map((channel) =>
      unknown.includes(channel) ? `${channel} unknown lease_expired_after_dispatch x1` : `${channel} sent x1`,
    ),
  );
  expect(weekly.gateway.routes.send.calls.length).toBeLessThanOrEqual(1);
  expect(weekly.email.routes.send.calls.length).toBeLessThanOrEqual(1);
  const [entries] = await weekly.db.sql`select count(*)::int as n from timeline_entries`;
  expect(entries!.n).toBe(unknown.includes("whatsapp") ? 0 : 1);
}

describe("a process that dies", () => {
  test.each<[Step, "before" | "after", string | undefined, ("whatsapp" | "email")[]]>([
    ["claimReport", "before", undefined, []],
    ["claimReport", "after", undefined, []],
    ["readEvidence", "before", undefined, []],
    ["readEvidence", "after", undefined, []],
    ["persistReport", "before", undefined, []],
    ["persistReport", "after", undefined, []],
    ["persistAndClaimWhatsapp", "before", undefined, []],
    ["persistAndClaimWhatsapp", "after", undefined, []],
    ["claimWhatsapp", "before", undefined, []],
    ["claimWhatsapp", "after", undefined, []],
    ["dispatchDelivery", "before", "whatsapp", []],
    ["dispatchDelivery", "after", "whatsapp", ["whatsapp"]],
    ["settleDelivery", "before", "whatsapp", ["whatsapp"]],
    ["settleDelivery", "after", "whatsapp", []],
    ["claimEmail", "before", undefined, []],
    ["claimEmail", "after", undefined, []],
    ["dispatchDelivery", "before", "email", []],
    ["dispatchDelivery", "after", "email", ["email"]],
    ["settleDelivery", "before", "email", ["email"]],
    ["settleDelivery", "after", "email", []],
  ])(
    "at %s, %s it (%p): later runs finish the rest, and nothing is sent twice",
    async (step, when, channel, unknown) => {
      const weekly = await oneOwner();
      await dieAt(weekly, step, when, channel);
      await expectRecovered(weekly, unknown);
    },
  );

  test.each<["analysis" | "whatsapp" | "email", ("whatsapp" | "email")[]]>([
    ["analysis", []],
    ["whatsapp", ["whatsapp"]],
    ["email", ["email"]],
  ])("inside the call to the %s", async (peer, unknown) => {
    const weekly = await oneOwner();
    await dieInside(weekly, peer);
    await expectRecovered(weekly, unknown);
  });

  test("is not followed by another before its leases have ended", async () => {
    const weekly = await oneOwner();
    await dieAt(weekly, "persistReport", "before");
    expect(await weekly.run()).toMatchObject({ exitCode: 1, heartbeat: "kept", reports: { busy: 1 } });
    expect(weekly.gateway.ledger).toHaveLength(0);
    await expectRecovered(weekly, []);
  });
});
