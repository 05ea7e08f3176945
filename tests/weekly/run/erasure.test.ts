import { describe, expect, test } from "bun:test";
import { after, before, type Moment, type Which } from "../../standins/statement-proxy.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { eraseOwner } from "../support/erase-owner.ts";
import { isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { CLAIM_DELIVERY, CLAIM_REPORT, DISPATCH, SETTLE, STORE_REPORT } from "../support/steps.ts";
import { recordingLog, type WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

type Expected = { reports: object; whatsapp: object; email: object; sends: [number, number] };

const GONE: Expected = {
  reports: { ineligible: 1, completed: 0, failed: 0 },
  whatsapp: { sent: 0, skipped: 0 },
  email: { sent: 0 },
  sends: [0, 0],
};
const MADE = { ineligible: 0, completed: 1, failed: 0 };
const UNSENT: Expected = {
  reports: MADE,
  whatsapp: { sent: 0, skipped: 1 },
  email: { skipped: 1 },
  sends: [0, 0],
};
const SENT: Expected = {
  reports: MADE,
  whatsapp: { sent: 1, skipped: 0 },
  email: { sent: 0, skipped: 1 },
  sends: [1, 0],
};

/** Where the owner is erased, and what the run then counts. */
const MOMENTS: [string, typeof before | typeof after, string, Which, Expected][] = [
  ["before the claim of the report", before, CLAIM_REPORT, {}, GONE],
  ["after the claim of the report", after, CLAIM_REPORT, {}, GONE],
  ["before the report is stored", before, STORE_REPORT, {}, GONE],
  ["after the report is stored", after, STORE_REPORT, {}, UNSENT],
  ["after the claim of the message", after, CLAIM_DELIVERY, {}, UNSENT],
  ["after the dispatch of the message", after, DISPATCH, {}, SENT],
  ["before the message is recorded", before, SETTLE, {}, SENT],
  ["after the message is recorded", after, SETTLE, {}, SENT],
  ["after the claim of the e-mail", after, CLAIM_DELIVERY, { nth: 2 }, SENT],
];

describe("an owner whom the application deletes while the run works for it", () => {
  test.each(MOMENTS)(
    "%s: nothing has failed, nothing of the owner stays",
    async (_name, when, step, which, { sends, ...counts }) => {
      const weekly = shared();
      const owner = await seedOwner(weekly.db.sql);
      const log = recordingLog();
      const at = [when(step, () => eraseOwner(weekly, owner), which)];
      const summary = await weekly.run({}, { log, at });
      expect(summary).toMatchObject({ status: "success", exitCode: 0, heartbeat: "written", ...counts });
      // The application fails to analyse a user who is gone; like any failed call, this does not fail the run.
      expect(summary.failures.filter(({ step }) => step !== "social")).toEqual([]);
      expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
      expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual(sends);
      for (const table of ["reports", "deliveries"])
        expect([...(await weekly.db.sql.unsafe(`select id from weekly_performance_${table}`))]).toEqual([]);
    },
  );

  test("a refusal of the message to somebody who is gone is no failure either", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    weekly.gateway.routes.send.next({ status: 413 });
    const summary = await weekly.run({}, { at: [before(SETTLE, () => eraseOwner(weekly, owner))] });
    expect(summary).toMatchObject({ exitCode: 0, whatsapp: { failed: 0, skipped: 1 }, failures: [] });
  });

  test("an owner who is deleted while the report is claimed leaves a row without anybody to refer to: no failure either", async () => {
    const weekly = shared();
    const { sql } = weekly.db;
    const { userId } = await seedOwner(sql, { networks: [], sends: [] });
    const summary = await weekly.run({}, { at: [before(CLAIM_REPORT, () => deleteBeside(weekly, userId))] });
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      reports: GONE.reports,
      failures: [],
    });
  });

  /** Deletes the user in a transaction that ends when a statement of the run waits for it. */
  async function deleteBeside({ db: { sql } }: WeeklyFixture, userId: string): Promise<void> {
    const deleted = Promise.withResolvers<void>();
    void sql
      .begin(async (tx) => {
        await tx`delete from users where id = ${userId}`;
        deleted.resolve();
        await until("a session that waits for a lock", async () => {
          const waiting = await sql`
            select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
          return waiting.length > 0;
        });
      })
      .catch(deleted.reject);
    await deleted.promise;
  }

  test("the others get their reports", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    for (let i = 0; i < 5; i += 1) await seedOwner(weekly.db.sql);
    const at: Moment[] = [before(STORE_REPORT, () => eraseOwner(weekly, owner), { of: owner.userId })];
    expect(await weekly.run({}, { at })).toMatchObject({
      exitCode: 0,
      reports: { scopes: 6, completed: 5, ineligible: 1 },
      whatsapp: { sent: 5 },
      week: { owners: 5 },
    });
  });
});

describe("a delivery's row that the database has lost although its owner is there", () => {
  /** As a failover to a replica that lagged does. */
  async function lose({ db }: WeeklyFixture, { userId }: SeededOwner): Promise<void> {
    await db.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`delete from weekly_performance_deliveries where user_id = ${userId}`;
    });
  }

  test.each([
    ["makes a sent message partial, with the provider's id, and fails the run", false],
    ["shows no more of Meta's id, which holds the number, than its end", true],
  ])("%s", async (_name, isMeta) => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    if (isMeta) weekly.gateway.integrations.set("ops", "WHATSAPP-BUSINESS");
    const log = recordingLog();
    const summary = await weekly.run({}, { log, at: [before(SETTLE, () => lose(weekly, owner))] });
    const { id } = weekly.gateway.accepted[0]!;
    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept", whatsapp: { sent: 0, partial: 1 } });
    expect(summary.failures[0]).toEqual({
      step: "whatsapp",
      code: "delivery_row_lost",
      tenantId: owner.tenantId,
      reportId: expect.any(String),
      deliveryId: expect.any(String),
      providerMessageId: isMeta ? `wamid.…${id.slice(-12)}` : id,
      cause: undefined,
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(JSON.stringify([summary, log.lines])).not.toContain(owner.phone!.replace(/\D/g, "").slice(-8));
  });

  test("makes a refused message a failure, and the next run sends it", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    weekly.gateway.routes.send.next({ status: 413 });
    expect(await weekly.run({}, { at: [before(SETTLE, () => lose(weekly, owner))] })).toMatchObject({
      exitCode: 1,
      whatsapp: { failed: 1, skipped: 0 },
    });
    expect(await weekly.run()).toMatchObject({ exitCode: 0, whatsapp: { sent: 1 } });
  });
});
