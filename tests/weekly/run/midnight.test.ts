import { describe, expect, test } from "bun:test";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import { after, before, type Which } from "../../standins/statement-proxy.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import {
  CLAIM_DELIVERY,
  CLAIM_REPORT,
  DISPATCH,
  READ_EVIDENCE,
  SETTLE,
  STORE_REPORT,
} from "../support/steps.ts";
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

/** A run, and what every run that reached midnight has in common. */
async function endedRun(
  weekly: WeeklyFixture,
  options: Partial<WeeklyOptions> = {},
  changes: FixtureChanges = {},
) {
  const summary = await weekly.run({ concurrency: 1, ...options }, changes);
  expect(summary).toMatchObject({
    status: "failed",
    exitCode: 1,
    heartbeat: "kept",
    error: { code: "MONDAY_ENDED" },
  });
  expect(isHeartbeatKept(weekly)).toBe(true);
  return summary;
}

describe("runWeekly() when midnight passes before a report is complete", () => {
  test.each([1, 2])(
    "midnight during analysis call %i: no further one, and nothing is stored or sent",
    async (last) => {
      const weekly = await monday(3);
      const analyse = weekly.onAnalyze;
      let calls = 0;
      weekly.onAnalyze = async (body) => {
        await analyse(body);
        calls += 1;
        if (calls === last) await midnight(weekly);
      };
      const summary = await endedRun(weekly);
      expect(weekly.application.routes.analysis.calls).toHaveLength(last);
      expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([
        { status: "failed", errorCode: "MONDAY_ENDED", stored: false },
      ]);
      expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
      expect(summary.reports).toMatchObject({ scopes: 3, completed: 0, failed: 1 });
    },
  );

  test("midnight before the claim: no row at all, and nobody is called", async () => {
    const weekly = await monday(3);
    const summary = await endedRun(weekly, {}, { at: [before(CLAIM_REPORT, () => midnight(weekly))] });
    expect(summary).toMatchObject({ reports: { scopes: 3, failed: 0 }, failures: [] });
    expect((await reportsByOwner(weekly)).size).toBe(0);
    expect(weekly.application.ledger).toHaveLength(0);
  });

  test.each([
    ["after the evidence is read", after, READ_EVIDENCE],
    ["before the report is stored", before, STORE_REPORT],
  ] as const)("midnight %s: nothing is stored or sent", async (_name, when, step) => {
    const weekly = await monday();
    await endedRun(weekly, {}, { at: [when(step, () => midnight(weekly))] });
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([
      { status: "failed", errorCode: "MONDAY_ENDED", stored: false },
    ]);
    expect(await deliveryStates(weekly)).toEqual([]);
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
  });
});

describe("runWeekly() when midnight passes between report and sends", () => {
  test.each([
    ["after the report is stored", after, STORE_REPORT],
    ["after the message is claimed", after, CLAIM_DELIVERY],
    ["before the message is dispatched", before, DISPATCH],
  ] as const)("midnight %s: nothing is sent, and both channels say so", async (_name, when, step) => {
    const weekly = await monday();
    const summary = await endedRun(weekly, {}, { at: [when(step, () => midnight(weekly))] });
    expect(summary.reports).toMatchObject({ completed: 1 });
    const { whatsapp, email } = summary;
    expect([whatsapp.failed + whatsapp.skipped, email.failed + email.skipped]).toEqual([1, 1]);
    expect(summary.failures.map(({ code }) => code)).toEqual(["MONDAY_ENDED", "MONDAY_ENDED"]);
    expect([weekly.gateway.routes.send.calls, weekly.email.ledger]).toEqual([[], []]);
    // What was claimed is given free.
    const states = await deliveryStates(weekly);
    expect(states.filter((state) => !state.includes("failed MONDAY_ENDED"))).toEqual([]);
  });

  test("midnight while a message is in flight: its result is still written, with the timeline entry", async () => {
    const weekly = await monday(2);
    const summary = await endedRun(weekly, {}, { at: [before(SETTLE, () => midnight(weekly))] });
    expect(await deliveryStates(weekly)).toEqual(["whatsapp sent x1"]);
    expect(summary).toMatchObject({ whatsapp: { sent: 1 }, email: { sent: 0, skipped: 1 } });
    expect(weekly.email.accepted).toEqual([]);
    const entries = await weekly.db.sql`select source from timeline_entries`;
    expect(entries.map(({ source }) => source)).toEqual(["weekly_performance_report"]);
    expect(weekly.application.routes.analysis.calls).toHaveLength(2);
  });

  test("midnight while the provider limits our rate: the send is not repeated on Tuesday", async () => {
    const weekly = await monday();
    weekly.email.routes.send.script = () => ({
      status: 429,
      json: { statusCode: 429, name: "rate_limit_exceeded", message: "slow" },
      headers: { "retry-after": "1" },
    });
    await endedRun(weekly, {}, { sleep: () => midnight(weekly) });
    expect(weekly.email.routes.send.calls).toHaveLength(1);
    expect(await deliveryStates(weekly)).toEqual(["email failed MONDAY_ENDED x1", "whatsapp sent x1"]);
  });
});

describe("runWeekly() when midnight passes after the sends", () => {
  const afterLastSend = (weekly: WeeklyFixture): FixtureChanges => {
    const second: Which = { nth: 2 };
    return { at: [after(SETTLE, () => midnight(weekly), second)] };
  };

  test.each([false, true])(
    "midnight before the heartbeat: everything is sent, none is written (--tenant %p)",
    async (one) => {
      const weekly = await monday();
      const [owner] = await weekly.db.sql`select tenant_id as id from users where role = 'owner'`;
      const summary = await endedRun(weekly, one ? { tenantId: owner!.id } : {}, afterLastSend(weekly));
      expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
      expect(summary.failures).toEqual([]);
    },
  );

  test("midnight before the drain: no editorial call", async () => {
    const weekly = await monday();
    const summary = await endedRun(weekly, { editorials: EDITORIALS }, afterLastSend(weekly));
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
    expect(summary.editorials).toMatchObject({ code: "MONDAY_ENDED", calls: 0 });
  });

  test("midnight during a call of the drain: no second one", async () => {
    const weekly = await monday();
    const answer = { truncated: true, nextCursor: "c1", reasonStopped: "batch", llmCalls: 3, processed: 3 };
    weekly.application.editorials.push({ ...answer, skipped: 0, failures: [] });
    weekly.onEditorial = () => midnight(weekly);
    const summary = await endedRun(weekly, { editorials: EDITORIALS });
    expect(weekly.application.routes.editorial.calls).toHaveLength(1);
    expect(summary.editorials).toMatchObject({
      status: "failed",
      code: "MONDAY_ENDED",
      calls: 1,
      llmCalls: 3,
    });
  });
});
