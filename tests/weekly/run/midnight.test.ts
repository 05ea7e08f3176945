import { describe, expect, test } from "bun:test";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { FixtureChanges, WeeklyFixture } from "../support/weekly-fixture.ts";

const TUESDAY = "2026-11-24T03:00:00Z";
const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const shared = sharedWeekly();

async function monday(owners = 1): Promise<WeeklyFixture> {
  const weekly = shared();
  for (let i = 0; i < owners; i += 1) await seedOwner(weekly.db.sql);
  plantHeartbeat(weekly);
  return weekly;
}

const midnight = (weekly: WeeklyFixture) => setClock(weekly.db.sql, TUESDAY);

/** What every run that reached midnight has in common. */
function expectEnded(weekly: WeeklyFixture, summary: WeeklySummary): void {
  expect(summary).toMatchObject({
    status: "failed",
    exitCode: 1,
    heartbeat: "kept",
    error: { code: "MONDAY_ENDED" },
  });
  expect(isHeartbeatKept(weekly)).toBe(true);
}

/** A run in which midnight passes right before, or right after, one call of the store. */
function around(
  weekly: WeeklyFixture,
  name:
    | "claimReport"
    | "readEvidence"
    | "persistReport"
    | "claimWhatsapp"
    | "persistAndClaimWhatsapp"
    | "claimEmail"
    | "dispatchDelivery",
  when: "before" | "after",
): FixtureChanges {
  return {
    wrapStore: (store) => ({
      [name]: async (...args: never[]) => {
        if (when === "before") await midnight(weekly);
        const answer = await (store[name] as (...given: never[]) => Promise<unknown>)(...args);
        if (when === "after") await midnight(weekly);
        return answer;
      },
    }),
  };
}

describe("runWeekly() when midnight passes before a report is complete", () => {
  test("during the first analysis call: no second one, the report is failed, nothing is sent", async () => {
    const weekly = await monday(3);
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      await analyse(body);
      await midnight(weekly);
    };
    const summary = await weekly.run({ concurrency: 1 });
    expectEnded(weekly, summary);
    expect(weekly.application.routes.analysis.calls).toHaveLength(1);
    const reports = [...(await reportsByOwner(weekly)).values()];
    expect(reports).toMatchObject([{ status: "failed", errorCode: "MONDAY_ENDED", stored: false }]);
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    expect(summary.reports).toMatchObject({ scopes: 3, completed: 0, failed: 1 });
  });

  test("after the last analysis call", async () => {
    const weekly = await monday(3);
    const analyse = weekly.onAnalyze;
    let calls = 0;
    weekly.onAnalyze = async (body) => {
      await analyse(body);
      calls += 1;
      if (calls === 2) await midnight(weekly);
    };
    expectEnded(weekly, await weekly.run({ concurrency: 1 }));
    expect(weekly.application.routes.analysis.calls).toHaveLength(2);
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([{ status: "failed", stored: false }]);
  });

  test("before the claim: no row at all", async () => {
    const weekly = await monday(3);
    let claims = 0;
    const summary = await weekly.run(
      { concurrency: 1 },
      {
        wrapStore: ({ claimReport }) => ({
          async claimReport(...claim) {
            claims += 1;
            await midnight(weekly);
            return await claimReport(...claim);
          },
        }),
      },
    );
    expectEnded(weekly, summary);
    expect(claims).toBe(1);
    expect(summary).toMatchObject({ reports: { scopes: 3, failed: 0 }, failures: [] });
    expect((await reportsByOwner(weekly)).size).toBe(0);
    expect(weekly.application.ledger).toHaveLength(0);
  });

  test.each([
    ["readEvidence", "after"],
    ["persistReport", "before"],
  ] as const)("%s, %s: nothing is stored or sent", async (step, when) => {
    const weekly = await monday();
    expectEnded(weekly, await weekly.run({}, around(weekly, step, when)));
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([
      { status: "failed", errorCode: "MONDAY_ENDED", stored: false },
    ]);
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
  });
});

describe("runWeekly() when midnight passes between report and sends", () => {
  test("after persisting: no delivery is claimed", async () => {
    const weekly = await monday();
    const summary = await weekly.run({}, around(weekly, "persistReport", "after"));
    expectEnded(weekly, summary);
    expect(await deliveryStates(weekly)).toEqual([]);
    expect(summary).toMatchObject({
      whatsapp: { skipped: 1 },
      email: { skipped: 1 },
      reports: { completed: 1 },
    });
    expect(summary.failures.map(({ code }) => code)).toEqual(["MONDAY_ENDED", "MONDAY_ENDED"]);
  });

  test.each(["claimWhatsapp", "persistAndClaimWhatsapp"] as const)(
    "between claim and dispatch: the claimed one is failed, the other channel is not claimed (%s)",
    async (step) => {
      const weekly = await monday();
      const summary = await weekly.run({}, around(weekly, step, "after"));
      expectEnded(weekly, summary);
      expect(await deliveryStates(weekly)).toEqual(["whatsapp failed MONDAY_ENDED x1"]);
      expect(summary).toMatchObject({ whatsapp: { failed: 1 }, email: { skipped: 1 } });
      expect([weekly.gateway.routes.send.calls, weekly.email.ledger]).toEqual([[], []]);
    },
  );

  test("while a message is on its way: its result is still written, with the timeline entry", async () => {
    const weekly = await monday(2);
    const summary = await weekly.run(
      { concurrency: 1 },
      {
        wrapStore: (store) => ({
          async settleDelivery(delivery, result) {
            await midnight(weekly);
            return await store.settleDelivery(delivery, result);
          },
        }),
      },
    );
    expectEnded(weekly, summary);
    expect(await deliveryStates(weekly)).toEqual(["whatsapp sent x1"]);
    expect(summary).toMatchObject({ whatsapp: { sent: 1 }, email: { skipped: 1 } });
    const entries = await weekly.db.sql`select source from timeline_entries`;
    expect(entries.map(({ source }) => source)).toEqual(["weekly_performance_report"]);
    expect(weekly.application.routes.analysis.calls).toHaveLength(2);
  });

  test("while the provider holds us back: the send is not repeated on Tuesday", async () => {
    const weekly = await monday();
    weekly.email.routes.send.script = () => ({
      status: 429,
      json: { statusCode: 429, name: "rate_limit_exceeded", message: "slow" },
      headers: { "retry-after": "1" },
    });
    const summary = await weekly.run({}, { sleep: () => midnight(weekly) });
    expectEnded(weekly, summary);
    expect(weekly.email.routes.send.calls).toHaveLength(1);
    expect(await deliveryStates(weekly)).toEqual(["email failed MONDAY_ENDED x1", "whatsapp sent x1"]);
  });
});

describe("runWeekly() when midnight passes after the sends", () => {
  test("before the drain: no editorial call", async () => {
    const weekly = await monday();
    const summary = await weekly.run(
      { editorials: EDITORIALS },
      {
        wrapStore: (store) => ({
          async withDrainLock(drain) {
            await midnight(weekly);
            return await store.withDrainLock(drain);
          },
        }),
      },
    );
    expectEnded(weekly, summary);
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
    expect(summary.editorials).toMatchObject({ status: "failed", code: "MONDAY_ENDED", calls: 0 });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
  });

  test("between two calls of the drain: no second one", async () => {
    const weekly = await monday();
    const answer = { truncated: true, nextCursor: "c1", reasonStopped: "batch", llmCalls: 3, processed: 3 };
    weekly.application.editorials.push({ ...answer, skipped: 0, failures: [] });
    let asked = 0;
    const summary = await weekly.run(
      { editorials: EDITORIALS },
      {
        wrapStore: (store) => ({
          async withDrainLock(drain) {
            return await store.withDrainLock((confirm) =>
              drain(async () => {
                await confirm();
                asked += 1;
                // The call that follows is already permitted; the next one is not.
                await midnight(weekly);
              }),
            );
          },
        }),
      },
    );
    expectEnded(weekly, summary);
    expect(asked).toBe(1);
    expect(weekly.application.routes.editorial.calls).toHaveLength(1);
    expect(summary.editorials).toMatchObject({
      status: "failed",
      code: "MONDAY_ENDED",
      calls: 1,
      llmCalls: 3,
    });
  });

  test.each([{}, { tenant: true }])(
    "before the heartbeat: everything is sent, none is written (%p)",
    async ({ tenant }) => {
      const weekly = await monday();
      const [owner] = await weekly.db.sql`select tenant_id from users where role = 'owner'`;
      const summary = await weekly.run(tenant ? { tenantId: owner!.tenant_id } : {}, {
        wrapStore: (store) => ({
          async settleDelivery(delivery, result) {
            const settled = await store.settleDelivery(delivery, result);
            const [left] = await weekly.db.sql`
            select count(*)::int as n from weekly_performance_deliveries where status = 'sent'`;
            if (left!.n === 2) await midnight(weekly);
            return settled;
          },
        }),
      });
      expectEnded(weekly, summary);
      expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
      expect(summary.failures).toEqual([]);
    },
  );
});
