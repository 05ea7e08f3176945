import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { after, before } from "../../standins/statement-proxy.ts";
import { type SeededOwner, seedOwner, WEEK } from "../../support/seed.ts";
import {
  deliveriesByOwner,
  deliveryStates,
  isHeartbeatKept,
  plantHeartbeat,
  reportsByOwner,
} from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { CLAIM_REPORT, SETTLE } from "../support/steps.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

async function owners(count: number): Promise<SeededOwner[]> {
  const seeded: SeededOwner[] = [];
  for (let i = 0; i < count; i += 1)
    seeded.push(await seedOwner(shared().db.sql, { networks: ["instagram"], sends: [] }));
  return seeded;
}

/** A report row that another process holds, with its lease ending in so many minutes. */
async function heldReport({ db }: WeeklyFixture, owner: SeededOwner, minutes: number): Promise<string> {
  const id = randomUUID();
  await db.sql`
    insert into weekly_performance_reports
      (id, tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at)
    values (${id}, ${owner.tenantId}, ${owner.userId}, ${WEEK.start}, ${WEEK.end}, 1, 'running',
            gen_random_uuid(), weekly_performance_now() + ${minutes} * interval '1 minute')`;
  return id;
}

/** Turns a channel's finished deliveries into ones that another process holds. */
async function holdDeliveries(
  { db }: WeeklyFixture,
  { minutes, dispatched }: { minutes: number; dispatched: boolean },
): Promise<void> {
  await db.sql`
    update weekly_performance_deliveries
    set status = 'running', error_code = null, settled_at = null, claim_token = gen_random_uuid(),
        lease_expires_at = weekly_performance_now() + ${minutes} * interval '1 minute',
        dispatched_at = case when ${dispatched} then dispatched_at end,
        sender_tenant_id = case when ${dispatched} then sender_tenant_id end,
        masked_hint = case when ${dispatched} then masked_hint end
    where status = 'failed'`;
}

describe("several runs at once", () => {
  test.each([2, 4])("%p runs over 60 owners: each report once, each message once", async (runs) => {
    const weekly = shared();
    const seeded = await owners(60);
    const summaries = await Promise.all(Array.from({ length: runs }, () => weekly.run()));

    const total = (count: (summary: (typeof summaries)[number]) => number) =>
      summaries.reduce((sum, summary) => sum + count(summary), 0);
    expect(total(({ reports }) => reports.completed)).toBe(60);
    expect(total(({ whatsapp }) => whatsapp.sent)).toBe(60);
    expect(total(({ email }) => email.sent)).toBe(60);
    expect(total(({ reports, whatsapp, email }) => reports.failed + whatsapp.failed + email.failed)).toBe(0);
    expect(total(({ whatsapp, email }) => whatsapp.unknown + email.unknown)).toBe(0);
    for (const summary of summaries) {
      const { scopes, completed, reused, busy } = summary.reports;
      expect(completed + reused + busy).toBe(scopes);
      // A run that sees work in the hands of another process at its end reports no success.
      const held = busy + summary.whatsapp.partial + summary.email.partial;
      expect(summary.exitCode).toBe(held === 0 ? 0 : 1);
      expect(summary.heartbeat).toBe(held === 0 ? "written" : "kept");
    }
    expect(weekly.application.analyzed.map(({ connectionId }) => connectionId).sort()).toEqual(
      seeded.map(({ connections }) => connections[0]!.id).sort(),
    );
    const numbers = weekly.gateway.accepted.map(({ number }) => number);
    expect([numbers.length, new Set(numbers).size]).toEqual([60, 60]);
    expect(weekly.email.routes.send.calls).toHaveLength(60);
    expect(await deliveryStates(weekly)).toEqual(["email sent x60", "whatsapp sent x60"]);
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { reused: 60 } });
  });
});

describe("a report that another process has claimed", () => {
  test("a report with a valid lease: left alone, looked at once more, then counted", async () => {
    const weekly = shared();
    const [held] = await owners(3);
    await heldReport(weekly, held!, 20);
    plantHeartbeat(weekly);
    const before = await weekly.db.sql`select * from weekly_performance_reports`;
    const summary = await weekly.run();
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      error: null,
      reports: { scopes: 3, completed: 2, busy: 1, failed: 0 },
    });
    expect(summary.failures).toEqual([{ step: "report", code: "report_busy", tenantId: held!.tenantId }]);
    expect(isHeartbeatKept(weekly)).toBe(true);
    const after = await weekly.db
      .sql`select * from weekly_performance_reports where user_id = ${held!.userId}`;
    expect([...after]).toEqual([...before]);
    expect(weekly.application.analyzed.map(({ userId }) => userId)).not.toContain(held!.userId);
  });

  test.each([0, -1])(
    "a report with a lease that ended %p minutes ago: taken over with a new token",
    async (minutes) => {
      const weekly = shared();
      const [owner] = await owners(1);
      await heldReport(weekly, owner!, minutes);
      expect(await weekly.run()).toMatchObject({
        status: "success",
        reports: { completed: 1 },
        whatsapp: { sent: 1 },
      });
      const [row] = await weekly.db.sql`select attempts, status from weekly_performance_reports`;
      expect(row).toMatchObject({ attempts: 2, status: "completed" });
    },
  );

  test.each([
    ["completes it", { reused: 1, completed: 1, busy: 0 }, 1],
    ["fails it", { reused: 0, completed: 2, busy: 0 }, 0],
  ] as const)(
    "a report of another process that %s before the end of this run: looked at again, exit 0",
    async (what, reports, theirCompleted) => {
      const weekly = shared();
      const [other] = await owners(1);
      // The other process has claimed first, and ends while this one sends its own owner's message.
      const taken = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const interrupt = new AbortController();
      const claimed = after(CLAIM_REPORT, async () => {
        taken.resolve();
        await goOn.promise;
        if (what === "fails it") interrupt.abort();
      });
      const theirs = weekly.run({}, { at: [claimed], interrupt: interrupt.signal });
      await taken.promise;
      const mine = (await owners(1))[0]!;
      const theirsEnds = before(SETTLE, async () => {
        goOn.resolve();
        await theirs;
      });
      const summary = await weekly.run({ concurrency: 2 }, { at: [theirsEnds] });
      expect(summary).toMatchObject({ exitCode: 0, reports: { scopes: 2, ...reports } });
      expect((await theirs).reports.completed).toBe(theirCompleted);
      const sent = await deliveriesByOwner(weekly, "whatsapp");
      expect([sent.get(other!.userId)?.status, sent.get(mine.userId)?.status]).toEqual(["sent", "sent"]);
      expect(weekly.gateway.accepted).toHaveLength(2);
    },
  );
});

describe("a delivery that another process has claimed", () => {
  async function failedOnce(): Promise<WeeklyFixture> {
    const weekly = shared();
    await owners(1);
    weekly.gateway.routes.send.script = () => ({ status: 413 });
    weekly.email.routes.send.script = () => ({ status: 404, json: { name: "not_found" } });
    await weekly.run();
    weekly.gateway.routes.send.script = null;
    weekly.email.routes.send.script = null;
    plantHeartbeat(weekly);
    return weekly;
  }

  test("a delivery with a valid lease: left alone and counted as partial", async () => {
    const weekly = await failedOnce();
    await holdDeliveries(weekly, { minutes: 5, dispatched: true });
    const summary = await weekly.run();
    expect(summary).toMatchObject({
      exitCode: 1,
      whatsapp: { partial: 1, sent: 0 },
      email: { partial: 1, sent: 0 },
    });
    expect(summary.failures.map(({ code }) => code)).toEqual(["delivery_busy", "delivery_busy"]);
    expect(await deliveryStates(weekly)).toEqual(["email running x1", "whatsapp running x1"]);
    expect([weekly.gateway.accepted, weekly.email.accepted]).toEqual([[], []]);
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("a delivery whose lease ended before the dispatch: taken over and sent", async () => {
    const weekly = await failedOnce();
    await holdDeliveries(weekly, { minutes: 0, dispatched: false });
    expect(await weekly.run()).toMatchObject({
      status: "success",
      whatsapp: { sent: 1 },
      email: { sent: 1 },
    });
  });

  test("a delivery whose lease ended after the dispatch: unknown, and never sent by anybody", async () => {
    const weekly = await failedOnce();
    await holdDeliveries(weekly, { minutes: 0, dispatched: true });
    for (let run = 0; run < 2; run += 1) {
      expect(await weekly.run()).toMatchObject({
        exitCode: 1,
        whatsapp: { unknown: 1 },
        email: { unknown: 1 },
      });
    }
    expect(await deliveryStates(weekly)).toEqual([
      "email unknown lease_expired_after_dispatch x1",
      "whatsapp unknown lease_expired_after_dispatch x1",
    ]);
    expect([weekly.gateway.accepted, weekly.email.accepted]).toEqual([[], []]);
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("a delivery that is sent by the time we look again: reused, exit 0", async () => {
    const weekly = shared();
    await owners(2);
    const sending = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const held = before(SETTLE, async () => {
      sending.resolve();
      await goOn.promise;
    });
    const theirs = weekly.run({ concurrency: 1, skipEmail: true }, { at: [held] });
    await sending.promise;
    // Ours finds the first owner's message held, sends the second one's, and looks at the first one again.
    const theirsEnds = before(SETTLE, async () => {
      goOn.resolve();
      await theirs;
    });
    const ours = await weekly.run({ concurrency: 1, skipEmail: true }, { at: [theirsEnds] });
    expect(await theirs).toMatchObject({ whatsapp: { sent: 1 } });
    expect(ours).toMatchObject({
      status: "success",
      exitCode: 0,
      whatsapp: { sent: 1, reused: 1, partial: 0 },
    });
    expect(weekly.gateway.accepted).toHaveLength(2);
  });

  test("a delivery taken over while it was sent: what the provider did counts as unknown, and the new claim's row is not touched", async () => {
    const weekly = shared();
    await owners(1);
    const { sql } = weekly.db;
    weekly.email.routes.send.script = () => ({ status: 404, json: { name: "not_found" } });
    const takeOver = () =>
      sql`update weekly_performance_deliveries set claim_token = gen_random_uuid() where status = 'running'`;
    const summary = await weekly.run({}, { at: [before(SETTLE, takeOver, { nth: "every" })] });
    expect(summary).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1, sent: 0 }, email: { failed: 1 } });
    expect(summary.failures).toContainEqual(
      expect.objectContaining({
        code: "delivery_claim_lost",
        providerMessageId: weekly.gateway.accepted[0]!.id,
        deliveryId: expect.any(String),
      }),
    );
    expect(await deliveryStates(weekly)).toEqual(["email running x1", "whatsapp running x1"]);
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([{ status: "completed" }]);
  });
});
