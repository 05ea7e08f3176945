import { expect, test } from "bun:test";
import { describeLedger, refusal } from "./support/ledger.ts";

const HASH = "0".repeat(64);
const REPORT = {
  status: "failed",
  attempts: 1,
  schema_version: 1,
  window_start: "2026-11-16T03:00:00Z",
  window_end: "2026-11-23T03:00:00Z",
};
const RUNNING = { claim_token: crypto.randomUUID(), lease_expires_at: "2026-11-23T11:20:00Z" };
const COMPLETED = {
  status: "completed",
  fingerprint: HASH,
  evidence: "{}",
  payload: "{}",
  coverage_status: "partial",
  completed_at: "2026-11-23T11:00:00Z",
};
const DELIVERY = { channel: "whatsapp", status: "pending" };
const DISPATCHED = { dispatched_at: "2026-11-23T11:00:00Z" };

/** Column values as the driver's type wants them. */
function row(values: Record<string, unknown>): Record<string, string | null> {
  return values as Record<string, string | null>;
}

/** Inserts by the superuser, past every function: what the tables themselves refuse. */
describeLedger("the tables", (ledger) => {
  async function insertReport(values: Record<string, unknown>): Promise<void> {
    const owner = await ledger.newOwner();
    const ids = { tenant_id: owner.tenantId, user_id: owner.userId };
    await ledger.sql`insert into weekly_performance_reports ${ledger.sql(row({ ...ids, ...REPORT, ...values }))}`;
  }

  async function insertDelivery(values: Record<string, unknown>): Promise<void> {
    const owner = await ledger.newOwner();
    const report_id = await ledger.completedReport(owner);
    const ids = { report_id, tenant_id: owner.tenantId, user_id: owner.userId };
    await ledger.sql`
      insert into weekly_performance_deliveries ${ledger.sql(row({ ...ids, ...DELIVERY, ...values }))}`;
  }

  test("accept the rows that make sense", async () => {
    await insertReport({ error_code: "APP_HTTP_500" });
    await insertReport({ status: "running", ...RUNNING });
    await insertReport(COMPLETED);
    await insertDelivery({});
    await insertDelivery({ status: "running", ...RUNNING });
    await insertDelivery({ status: "unknown", ...DISPATCHED });
    await insertDelivery({ status: "sent", provider_message_id: "id", masked_hint: "4321", ...DISPATCHED });
    await insertDelivery({ status: "failed", error_code: "recipient_phone_missing" });
  });

  test("hold one report per tenant, user, window and version, and one delivery per report and channel", async () => {
    const owner = await ledger.newOwner();
    const id = await ledger.completedReport(owner);
    const again = ledger.sql`
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status, attempts)
      select tenant_id, user_id, window_start, window_end, schema_version, 'failed', 7
      from weekly_performance_reports where id = ${id}`;
    expect(await refusal(again)).toBe("23505 weekly_performance_reports_key");
    await ledger.claimDelivery(id);
    const twice = ledger.sql`
      insert into weekly_performance_deliveries (report_id, tenant_id, user_id, channel, status)
      values (${id}, ${owner.tenantId}, ${owner.userId}, 'whatsapp', 'pending')`;
    expect(await refusal(twice)).toBe("23505 weekly_performance_deliveries_key");
  });

  const reports: [string, Record<string, unknown>, string][] = [
    ["a state of its own", { status: "done" }, "status"],
    ["a window that ends before it starts", { window_end: "2026-11-16T02:00:00Z" }, "window"],
    ["no version", { schema_version: 0 }, "version"],
    ["no attempt", { attempts: 0 }, "attempts"],
    ["a running row without a token", { status: "running", ...RUNNING, claim_token: null }, "running"],
    ["a running row without a lease", { status: "running", ...RUNNING, lease_expires_at: null }, "running"],
    ["a running row with an error", { status: "running", ...RUNNING, error_code: "x" }, "no_error"],
    ["a fingerprint that is none", { ...COMPLETED, fingerprint: "ABC" }, "fingerprint"],
    ["another coverage", { ...COMPLETED, coverage_status: "full" }, "coverage"],
    ["a sentence as error code", { error_code: "it failed" }, "error_code"],
    ...["fingerprint", "evidence", "payload", "coverage_status", "completed_at"].map(
      (column): [string, Record<string, unknown>, string] => [
        `a completed report without ${column}`,
        { ...COMPLETED, [column]: null },
        "completed",
      ],
    ),
    ["a failed report with a payload", { payload: "{}" }, "completed"],
  ];
  for (const [name, values, constraint] of reports)
    test(`refuse a report with ${name}`, async () => {
      expect(await refusal(insertReport(values))).toBe(`23514 weekly_performance_reports_${constraint}`);
    });

  const sent = { status: "sent", provider_message_id: "id", ...DISPATCHED };
  const email = { channel: "email" };
  const deliveries: [string, Record<string, unknown>, string][] = [
    ["another channel", { channel: "sms" }, "channel"],
    ["a state of its own", { status: "queued" }, "status"],
    ["attempts below zero", { attempts: -1 }, "attempts"],
    ["a running state without a token", { status: "running", ...RUNNING, claim_token: null }, "running"],
    ["a sent state without the provider's id", { ...sent, provider_message_id: null }, "provider_id"],
    ["an empty provider's id", { ...sent, provider_message_id: "" }, "provider_id"],
    ["a sent state that was never dispatched", { ...sent, dispatched_at: null }, "dispatched"],
    ["an unknown state that was never dispatched", { status: "unknown" }, "dispatched"],
    ["a provider's id before it is sent", { provider_message_id: "id" }, "provider_id"],
    ["a whole number as hint", { masked_hint: "5511987654321" }, "masked_hint"],
    ["five digits as hint", { masked_hint: "54321" }, "masked_hint"],
    ["a mask of the other channel", { masked_hint: "f***@example.com" }, "masked_hint"],
    ["a whole address as hint", { ...email, masked_hint: "fulano@example.com" }, "masked_hint"],
    ["two letters before the stars", { ...email, masked_hint: "fu***@example.com" }, "masked_hint"],
    ["an address behind the mask", { ...email, masked_hint: "f***@example.com, a@b.c" }, "masked_hint"],
    ["a line break in the mask", { ...email, masked_hint: "f***@example.com\n" }, "masked_hint"],
    ["a sentence as error code", { status: "failed", error_code: "no phone" }, "error_code"],
  ];
  for (const [name, values, constraint] of deliveries)
    test(`refuse a delivery with ${name}`, async () => {
      expect(await refusal(insertDelivery(values))).toBe(`23514 weekly_performance_deliveries_${constraint}`);
    });

  test("refuse a delivery of another tenant or user than its report", async () => {
    const stranger = await ledger.newOwner();
    for (const wrong of [{ tenant_id: stranger.tenantId }, { user_id: stranger.userId }])
      expect(await refusal(insertDelivery(wrong))).toBe("23503 weekly_performance_deliveries_report");
  });
});
