import { describe, expect, test } from "bun:test";
import type { Store } from "../../../lib/weekly/database/store.ts";
import { type SeededOwner, seedOwner } from "../../support/seed.ts";
import { eraseOwner } from "../support/erase-owner.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, until } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { recordingLog, type WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

/** Loses what the database has committed about this owner, as a failover to a replica that lagged does. */
async function lose({ db }: WeeklyFixture, { userId }: SeededOwner, tables: string[]): Promise<void> {
  await db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const table of tables)
      await tx.unsafe(`delete from weekly_performance_${table} where user_id = '${userId}'`);
  });
}

/** Does something to the owner once, just before or after the first call of this step for that owner. */
function around(step: keyof Store, when: "before" | "after", happen: () => Promise<void>) {
  let isDue = true;
  return (store: Store): Partial<Store> => ({
    [step]: async (...args: never[]) => {
      const call = store[step] as (...args: never[]) => Promise<unknown>;
      const isMine = isDue;
      isDue = false;
      if (isMine && when === "before") await happen();
      const result = await call(...args);
      if (isMine && when === "after") await happen();
      return result;
    },
  });
}

const GONE = { ineligible: 1, completed: 0, failed: 0 };
const MADE = { ineligible: 0, completed: 1, failed: 0 };

type Expected = { reports: object; whatsapp: object; email: object; sends: [number, number] };

/** The two steps between which the owner is erased, and what the run then counts. */
const MOMENTS: [string, keyof Store, "before" | "after", Expected][] = [
  [
    "before the claim of the report",
    "claimReport",
    "before",
    { reports: GONE, whatsapp: { sent: 0, skipped: 0 }, email: { sent: 0 }, sends: [0, 0] },
  ],
  [
    "after the claim of the report",
    "claimReport",
    "after",
    { reports: GONE, whatsapp: { sent: 0, skipped: 0 }, email: { sent: 0 }, sends: [0, 0] },
  ],
  [
    "before the report is stored",
    "persistReport",
    "before",
    { reports: GONE, whatsapp: { sent: 0, skipped: 0 }, email: { sent: 0 }, sends: [0, 0] },
  ],
  [
    "after the report is stored",
    "persistReport",
    "after",
    { reports: MADE, whatsapp: { sent: 0, skipped: 1 }, email: { skipped: 1 }, sends: [0, 0] },
  ],
  [
    "before the report is stored and the message claimed at once",
    "persistAndClaimWhatsapp",
    "before",
    { reports: GONE, whatsapp: { sent: 0, skipped: 0 }, email: { sent: 0 }, sends: [0, 0] },
  ],
  [
    "after the report is stored and the message claimed at once",
    "persistAndClaimWhatsapp",
    "after",
    { reports: MADE, whatsapp: { sent: 0, skipped: 1 }, email: { skipped: 1 }, sends: [0, 0] },
  ],
  [
    "after the claim of the message",
    "claimWhatsapp",
    "after",
    { reports: MADE, whatsapp: { sent: 0, skipped: 1 }, email: { skipped: 1 }, sends: [0, 0] },
  ],
  [
    "after the dispatch of the message",
    "dispatchDelivery",
    "after",
    { reports: MADE, whatsapp: { sent: 1, skipped: 0 }, email: { skipped: 1 }, sends: [1, 0] },
  ],
  [
    "before the message is recorded",
    "settleDelivery",
    "before",
    { reports: MADE, whatsapp: { sent: 1, skipped: 0 }, email: { skipped: 1 }, sends: [1, 0] },
  ],
  [
    "after the message is recorded",
    "settleDelivery",
    "after",
    { reports: MADE, whatsapp: { sent: 1, skipped: 0 }, email: { skipped: 1 }, sends: [1, 0] },
  ],
  [
    "before the message is recorded and the e-mail claimed at once",
    "settleAndClaimEmail",
    "before",
    { reports: MADE, whatsapp: { sent: 1, skipped: 0 }, email: { skipped: 1 }, sends: [1, 0] },
  ],
  [
    "after the message is recorded and the e-mail claimed at once",
    "settleAndClaimEmail",
    "after",
    { reports: MADE, whatsapp: { sent: 1 }, email: { sent: 0, skipped: 1 }, sends: [1, 0] },
  ],
  [
    "after the claim of the e-mail",
    "claimEmail",
    "after",
    { reports: MADE, whatsapp: { sent: 1 }, email: { sent: 0, skipped: 1 }, sends: [1, 0] },
  ],
];

describe("an owner whom the application deletes while the run works for it", () => {
  test.each(MOMENTS)(
    "%s: nothing has failed, nothing of the owner stays",
    async (_name, step, when, expected) => {
      const weekly = shared();
      const owner = await seedOwner(weekly.db.sql);
      const log = recordingLog();
      const summary = await weekly.run(
        {},
        { log, wrapStore: around(step, when, () => eraseOwner(weekly, owner)) },
      );
      const { sends, ...counts } = expected;
      expect(summary).toMatchObject({ status: "success", exitCode: 0, heartbeat: "written", ...counts });
      // The application fails to analyse a user who is gone; like any failed call, this does not fail the run.
      expect(summary.failures.filter(({ step }) => step !== "social")).toEqual([]);
      expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
      expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual(sends);
      for (const table of ["reports", "deliveries"])
        expect(Array.from(await weekly.db.sql.unsafe(`select id from weekly_performance_${table}`))).toEqual(
          [],
        );
    },
  );

  test("a refusal of the message to somebody who is gone is no failure either", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    weekly.gateway.routes.send.next({ status: 413 });
    const summary = await weekly.run(
      {},
      { wrapStore: around("settleDelivery", "before", () => eraseOwner(weekly, owner)) },
    );
    expect(summary).toMatchObject({ exitCode: 0, whatsapp: { failed: 0, skipped: 1 }, failures: [] });
  });

  test("a delivery that another process held when it went is skipped", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    await weekly.run();
    await weekly.db.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        update weekly_performance_deliveries
        set status = 'running', provider_message_id = null, settled_at = null,
            lease_expires_at = weekly_performance_now() + interval '5 minutes'
        where channel = 'whatsapp'`;
    });
    const summary = await weekly.run(
      {},
      { wrapStore: around("readDelivery", "before", () => eraseOwner(weekly, owner)) },
    );
    expect(summary).toMatchObject({ exitCode: 0, whatsapp: { partial: 0, skipped: 1 }, failures: [] });
  });

  test("while the report is claimed, its row has nobody to refer to: that is no failure either", async () => {
    const weekly = shared();
    const { sql } = weekly.db;
    const { userId } = await seedOwner(sql, { networks: [], sends: [] });
    const codes: unknown[] = [];
    const summary = await weekly.run(
      {},
      {
        wrapStore: ({ claimReport }) => ({
          async claimReport(...claim) {
            let claiming: ReturnType<typeof claimReport> | undefined;
            await sql.begin(async (tx) => {
              await tx`delete from users where id = ${userId}`;
              claiming = claimReport(...claim);
              claiming.catch(({ code }) => codes.push(code));
              await until(async () => {
                const waiting = await sql`
                  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
                return waiting.length > 0;
              });
            });
            return await claiming!;
          },
        }),
      },
    );
    expect(codes).toEqual(["23503"]);
    expect(summary).toMatchObject({ status: "success", exitCode: 0, reports: GONE, failures: [] });
  });

  test("the others get their reports", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    for (let i = 0; i < 5; i += 1) await seedOwner(weekly.db.sql);
    const wrapStore = (store: Store): Partial<Store> => ({
      async persistReport(report, content) {
        if (report.scope.userId === owner.userId) await eraseOwner(weekly, owner);
        return await store.persistReport(report, content);
      },
    });
    expect(await weekly.run({}, { wrapStore })).toMatchObject({
      exitCode: 0,
      reports: { scopes: 6, completed: 5, ineligible: 1 },
      whatsapp: { sent: 5 },
      week: { owners: 5 },
    });
  });
});

describe("a row that the database has lost although its owner is there", () => {
  test("a sent message is partial, with the provider's id, and the run fails", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    const log = recordingLog();
    const wrapStore = around("settleDelivery", "before", () => lose(weekly, owner, ["deliveries"]));
    const summary = await weekly.run({}, { log, wrapStore });
    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept", whatsapp: { sent: 0, partial: 1 } });
    expect(summary.failures[0]).toEqual({
      step: "whatsapp",
      code: "delivery_row_lost",
      tenantId: owner.tenantId,
      reportId: expect.any(String),
      deliveryId: expect.any(String),
      providerMessageId: weekly.gateway.accepted[0]!.id,
      cause: undefined,
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    expect(JSON.stringify([summary, log.lines])).not.toContain(owner.phone!.replace(/\D/g, "").slice(-8));
  });

  test("a refused message has failed, and the next run sends it", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    weekly.gateway.routes.send.next({ status: 413 });
    const wrapStore = around("settleDelivery", "before", () => lose(weekly, owner, ["deliveries"]));
    expect(await weekly.run({}, { wrapStore })).toMatchObject({
      exitCode: 1,
      whatsapp: { failed: 1, skipped: 0 },
    });
    expect(await weekly.run()).toMatchObject({ exitCode: 0, whatsapp: { sent: 1 } });
  });

  test("a report that cannot be stored has failed, and is made anew: its owner has none", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    const wrapStore = around("persistReport", "before", () => lose(weekly, owner, ["reports"]));
    expect(await weekly.run({}, { wrapStore })).toMatchObject({
      exitCode: 1,
      reports: { failed: 1, completed: 1, ineligible: 0 },
      failures: [{ code: "report_persist_failed" }],
    });
    expect(await weekly.run()).toMatchObject({ exitCode: 0, reports: { reused: 1 } });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
  });

  test("a report that is gone before its messages fails both channels, and is made anew", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    const wrapStore = around("persistReport", "after", () => lose(weekly, owner, ["reports"]));
    expect(await weekly.run({}, { wrapStore })).toMatchObject({
      exitCode: 1,
      reports: { completed: 2 },
      whatsapp: { failed: 1, skipped: 0, sent: 1 },
      email: { failed: 1, skipped: 0, sent: 1 },
    });
    expect(weekly.gateway.accepted).toHaveLength(1);
  });
});
