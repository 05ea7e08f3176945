import { describe, expect, test } from "bun:test";
import { before } from "../../standins/statement-proxy.ts";
import { seedOwner } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { CLAIM_REPORT, LIST_OWNERS, STORE_REPORT } from "../support/steps.ts";
import { recordingLog, type WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

async function threeOwners() {
  const weekly = shared();
  const [first, victim, third] = [
    await seedOwner(weekly.db.sql),
    await seedOwner(weekly.db.sql),
    await seedOwner(weekly.db.sql),
  ];
  plantHeartbeat(weekly);
  return { weekly, first, victim, third };
}

/** A trigger that raises on this table for one tenant, until it is taken away. */
async function refuseTenant(
  { db }: WeeklyFixture,
  table: string,
  event: "insert" | "update",
  condition: string,
): Promise<() => Promise<unknown>> {
  await db.sql.unsafe(`
    create function public.refuse_tenant() returns trigger language plpgsql as
      $$ begin raise exception 'refused for ana@client.example'; end $$;
    create trigger refuse_tenant before ${event} on ${table}
      for each row when (${condition}) execute function public.refuse_tenant()`);
  return () => db.sql.unsafe("drop function public.refuse_tenant() cascade");
}

describe("runWeekly() when the database refuses one owner", () => {
  test("the claim of the report: nothing is called for that owner, the others go on, the next run makes it", async () => {
    const { weekly, victim } = await threeOwners();
    const log = recordingLog();
    const allow = await refuseTenant(
      weekly,
      "weekly_performance_reports",
      "insert",
      `new.tenant_id = '${victim.tenantId}'`,
    );
    try {
      const summary = await weekly.run({}, { log });
      expect(summary).toMatchObject({
        exitCode: 1,
        heartbeat: "kept",
        error: null,
        reports: { completed: 2, failed: 1 },
        whatsapp: { sent: 2, failed: 0 },
        failures: [{ step: "report", code: "report_claim_failed", tenantId: victim.tenantId }],
      });
      expect(JSON.stringify([summary, log.lines])).not.toContain("ana@client.example");
    } finally {
      await allow();
    }
    expect(weekly.application.analyzed.map(({ tenantId }) => tenantId)).not.toContain(victim.tenantId);
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 1, reused: 2 } });
  });

  test("the persistence: report_persist_failed, the row is failed, nothing is sent for it, the next run resumes it", async () => {
    const { weekly, victim } = await threeOwners();
    const log = recordingLog();
    const condition = `new.tenant_id = '${victim.tenantId}' and new.status = 'completed'`;
    const allow = await refuseTenant(weekly, "weekly_performance_reports", "update", condition);
    try {
      const ids = { tenantId: victim.tenantId, reportId: expect.any(String) };
      expect(await weekly.run({}, { log })).toMatchObject({
        exitCode: 1,
        heartbeat: "kept",
        reports: { completed: 2, failed: 1 },
        failures: [{ step: "report", code: "report_persist_failed", ...ids }],
      });
      expect(log.lines.map(({ fields }) => fields)).toContainEqual({
        ...ids,
        code: "report_persist_failed",
        cause: "P0001",
      });
    } finally {
      await allow();
    }
    expect((await reportsByOwner(weekly)).get(victim.userId)).toMatchObject({
      status: "failed",
      errorCode: "report_persist_failed",
      stored: false,
    });
    expect(await deliveryStates(weekly)).toEqual(["email sent x2", "whatsapp sent x2"]);
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 1, reused: 2 } });
  });

  test("a claim that was lost meanwhile: report_persist_failed, and the new holder's row is not touched", async () => {
    const { weekly, victim } = await threeOwners();
    const token = "11111111-1111-4111-8111-111111111111";
    const takeOver = () =>
      weekly.db.sql`
        update weekly_performance_reports set claim_token = ${token} where tenant_id = ${victim.tenantId}`;
    const summary = await weekly.run({}, { at: [before(STORE_REPORT, takeOver, { of: victim.tenantId })] });
    expect(summary).toMatchObject({ exitCode: 1, reports: { completed: 2, failed: 1 } });
    const [row] = await weekly.db.sql`
      select status, claim_token, error_code from weekly_performance_reports where tenant_id = ${victim.tenantId}`;
    expect(row).toEqual({ status: "running", claim_token: token, error_code: null });
  });

  test("an owner who is no longer eligible when it is their turn: counted apart, and no failure", async () => {
    const { weekly, victim } = await threeOwners();
    const suspend = () =>
      weekly.db.sql`update credit_wallets set status = 'suspended' where tenant_id = ${victim.tenantId}`;
    const summary = await weekly.run({}, { at: [before(CLAIM_REPORT, suspend, { of: victim.tenantId })] });
    expect(summary).toMatchObject({
      status: "success",
      heartbeat: "written",
      reports: { completed: 2, ineligible: 1 },
    });
    expect((await reportsByOwner(weekly)).size).toBe(2);
  });

  test("the claim of a delivery: that channel of that owner fails, everything else is sent", async () => {
    const { weekly, victim } = await threeOwners();
    const condition = `new.tenant_id = '${victim.tenantId}' and new.channel = 'whatsapp'`;
    const allow = await refuseTenant(weekly, "weekly_performance_deliveries", "insert", condition);
    try {
      expect(await weekly.run()).toMatchObject({
        exitCode: 1,
        whatsapp: { sent: 2, failed: 1 },
        email: { sent: 3 },
        failures: [{ step: "whatsapp", code: "delivery_claim_failed", tenantId: victim.tenantId }],
      });
    } finally {
      await allow();
    }
    expect(await weekly.run()).toMatchObject({ status: "success", whatsapp: { sent: 1, reused: 2 } });
  });

  test("the timeline entry: the message stays sent and counts as partial", async () => {
    const { weekly, victim } = await threeOwners();
    const allow = await refuseTenant(
      weekly,
      "timeline_entries",
      "insert",
      `new.tenant_id = '${victim.tenantId}'`,
    );
    try {
      const failure = {
        step: "whatsapp",
        code: "timeline_entry_failed",
        tenantId: victim.tenantId,
        cause: "P0001",
      };
      expect(await weekly.run()).toMatchObject({
        exitCode: 1,
        heartbeat: "kept",
        whatsapp: { sent: 2, partial: 1, failed: 0 },
        email: { sent: 3 },
        failures: [failure],
      });
      expect(await weekly.run({ skipEmail: true })).toMatchObject({
        exitCode: 1,
        whatsapp: { reused: 2, partial: 1 },
        failures: [failure],
      });
    } finally {
      await allow();
    }
    expect(await weekly.run()).toMatchObject({ status: "success", whatsapp: { sent: 0, reused: 3 } });
    expect(weekly.gateway.accepted).toHaveLength(3);
  });
});

describe("runWeekly() when the worker itself is at fault for one owner", () => {
  test("a message that cannot be made fails alone, before it is dispatched", async () => {
    const { weekly } = await threeOwners();
    const gateway = {
      checkInstance: () => Promise.reject(new TypeError("undefined is not a function")),
      sendText: () => Promise.reject(new Error("not to be called")),
    };
    expect(await weekly.run({}, { gateway })).toMatchObject({
      exitCode: 1,
      error: null,
      reports: { completed: 3 },
      whatsapp: { failed: 3 },
      email: { sent: 3 },
    });
    expect(await deliveryStates(weekly)).toEqual([
      "email sent x3",
      "whatsapp failed delivery_prepare_failed x3",
    ]);
    expect(await weekly.run()).toMatchObject({ status: "success", whatsapp: { sent: 3 } });
  });

  test("a send that throws is unknown: it may have been accepted", async () => {
    const { weekly } = await threeOwners();
    const emailProvider = { sendEmail: () => Promise.reject(new TypeError("undefined is not a function")) };
    expect(await weekly.run({}, { emailProvider })).toMatchObject({
      exitCode: 1,
      error: null,
      email: { unknown: 3 },
    });
    expect(await deliveryStates(weekly)).toEqual([
      "email unknown delivery_send_broke_off x3",
      "whatsapp sent x3",
    ]);
    expect(await weekly.run()).toMatchObject({ exitCode: 1, email: { unknown: 3, sent: 0 } });
  });
});

describe("runWeekly() when the owners cannot be listed", () => {
  test("it ends with SCOPES_UNREADABLE after what it had begun", async () => {
    const { weekly } = await threeOwners();
    const { sql } = weekly.db;
    // The first question is how many there are.
    const rename = () =>
      sql`alter function list_weekly_performance_report_scopes(uuid) rename to listed_no_more`;
    try {
      expect(await weekly.run({}, { at: [before(LIST_OWNERS, rename, { nth: 2 })] })).toMatchObject({
        status: "failed",
        exitCode: 1,
        heartbeat: "kept",
        error: { code: "SCOPES_UNREADABLE" },
      });
    } finally {
      await sql`alter function listed_no_more(uuid) rename to list_weekly_performance_report_scopes`;
    }
    expect((await reportsByOwner(weekly)).size).toBe(0);
  });
});
