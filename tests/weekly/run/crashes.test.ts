import { describe, expect, test } from "bun:test";
import { after, before } from "../../standins/statement-proxy.ts";
import { seedOwner } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { deliveryStates, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import {
  CLAIM_DELIVERY,
  CLAIM_REPORT,
  DISPATCH,
  READ_EVIDENCE,
  SETTLE,
  STORE_REPORT,
} from "../support/steps.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const HOUR_MS = 3_600_000;

type Channel = "whatsapp" | "email";
const ONLY = { whatsapp: { skipEmail: true }, email: { skipWhatsapp: true } };

/** A process that dies around one step: everything that it would still do never happens. */
async function dieAt(
  weekly: WeeklyFixture,
  step: string,
  when: typeof before | typeof after,
  options: { skipEmail?: boolean; skipWhatsapp?: boolean } = {},
): Promise<void> {
  const died = Promise.withResolvers<void>();
  const die = () => {
    died.resolve();
    return new Promise<never>(() => {});
  };
  void weekly.run(options, { at: [when(step, die)], statementLimitMs: HOUR_MS });
  await died.promise;
}

/** A process that dies while the peer works on its call: the peer has done its part. */
async function dieInside(weekly: WeeklyFixture, peer: "analysis" | Channel): Promise<void> {
  const { application, gateway, email } = weekly;
  const { route, done } = {
    analysis: { route: application.routes.analysis, done: application.analyzed },
    whatsapp: { route: gateway.routes.send, done: gateway.accepted },
    email: { route: email.routes.send, done: email.accepted },
  }[peer];
  route.script = () => ({ accept: "hang" });
  void weekly.run();
  await until("the call that hangs", () => done.length > 0);
  route.script = null;
}

async function oneOwner(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql, { networks: ["instagram"] });
  plantHeartbeat(weekly);
  return weekly;
}

/** After the leases: two more runs. No owner has two messages; a message that was never sent is sent now or unknown. */
async function expectRecovered(weekly: WeeklyFixture, unknown: Channel[]): Promise<void> {
  for (const table of ["reports", "deliveries"])
    await weekly.db.sql.unsafe(
      `update weekly_performance_${table} set lease_expires_at = weekly_performance_now() where status = 'running'`,
    );
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
  describe.each([
    ["before", before],
    ["after", after],
  ] as const)("%s it", (_name, when) => {
    test.each([CLAIM_REPORT, READ_EVIDENCE, STORE_REPORT])(
      "%s: later runs make the report, and nothing is sent twice",
      async (step) => {
        const weekly = await oneOwner();
        await dieAt(weekly, step, when);
        await expectRecovered(weekly, []);
      },
    );

    /** A send that may have happened, or whose result is not recorded, is never repeated. */
    const unknownAt = when === before ? SETTLE : DISPATCH;
    test.each(
      (["whatsapp", "email"] as const).flatMap((channel) =>
        [CLAIM_DELIVERY, DISPATCH, SETTLE].map((step) => [channel, step] as const),
      ),
    )("%s, %s: later runs finish the rest, and nothing is sent twice", async (channel, step) => {
      const weekly = await oneOwner();
      await dieAt(weekly, step, when, ONLY[channel]);
      await expectRecovered(weekly, step === unknownAt ? [channel] : []);
    });
  });

  test.each<["analysis" | Channel, Channel[]]>([
    ["analysis", []],
    ["whatsapp", ["whatsapp"]],
    ["email", ["email"]],
  ])(
    "a process that dies inside the call to %s: later runs finish the rest, and nothing is sent twice",
    async (peer, unknown) => {
      const weekly = await oneOwner();
      await dieInside(weekly, peer);
      await expectRecovered(weekly, unknown);
    },
  );

  test("is not followed by another before its leases have ended", async () => {
    const weekly = await oneOwner();
    await dieAt(weekly, STORE_REPORT, before);
    expect(await weekly.run()).toMatchObject({ exitCode: 1, heartbeat: "kept", reports: { busy: 1 } });
    expect(weekly.gateway.ledger).toHaveLength(0);
    await expectRecovered(weekly, []);
  });
});
