import { expect, test } from "bun:test";
import { describeLedger, MONDAY, refusal, shifted } from "./support/ledger.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeLedger("claim_weekly_performance_delivery()", (ledger) => {
  test("of a completed report makes a running row with a token and a lease of five minutes", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.completedReport(owner);
    const claim = await ledger.claimDelivery(report, "email");
    expect(claim.outcome).toBe("claimed");
    expect(claim.token).toMatch(UUID);
    expect(claim.leaseEnd).toEqual(new Date("2026-11-23T11:05:00Z"));
    expect(await ledger.delivery(claim.id)).toMatchObject({
      report_id: report,
      tenant_id: owner.tenantId,
      user_id: owner.userId,
      channel: "email",
      status: "running",
      claim_token: claim.token,
      attempts: 1,
      dispatched_at: null,
      created_at: new Date(MONDAY),
    });
  });

  test("claims a row that was left pending", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.completedReport(owner);
    const [row] = await ledger.sql`
      insert into weekly_performance_deliveries (report_id, tenant_id, user_id, channel, status)
      values (${report}, ${owner.tenantId}, ${owner.userId}, 'whatsapp', 'pending') returning id`;
    expect(await ledger.claimDelivery(report)).toMatchObject({ id: row!.id, outcome: "claimed" });
  });

  test("refuses a report that is not completed, or missing, and makes no row", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    expect(await refusal(ledger.claimDelivery(claim.id))).toBe("OW020 delivery_report_not_completed");
    await ledger.failReport(claim, "APP_TIMEOUT");
    expect(await refusal(ledger.claimDelivery(claim.id))).toBe("OW020 delivery_report_not_completed");
    expect(await refusal(ledger.claimDelivery(crypto.randomUUID()))).toBe("OW003 report_not_found");
    const rows = await ledger.sql`
      select from weekly_performance_deliveries where tenant_id = ${owner.tenantId}`;
    expect(rows.length).toBe(0);
  });

  test("keeps the channels of one report apart", async () => {
    const report = await ledger.completedReport();
    const whatsapp = await ledger.claimDelivery(report, "whatsapp");
    await ledger.settle(whatsapp, "failed", null, "recipient_phone_missing");
    const before = await ledger.delivery(whatsapp.id);
    expect(await ledger.claimDelivery(report, "email")).toMatchObject({ outcome: "claimed" });
    expect(await ledger.delivery(whatsapp.id)).toEqual(before);
  });

  test("leaves a running row with a valid lease alone and answers no token", async () => {
    const report = await ledger.completedReport();
    const first = await ledger.claimDelivery(report);
    const before = await ledger.delivery(first.id);
    await ledger.setClock(await shifted(ledger.sql, first.leaseEnd!, "-1 microsecond"));
    expect(await ledger.claimDelivery(report)).toEqual({
      id: first.id,
      outcome: "busy",
      token: null,
      leaseEnd: first.leaseEnd,
    });
    expect(await ledger.delivery(first.id)).toEqual(before);
  });

  test("takes over at exactly the end of the lease when nothing was dispatched", async () => {
    const report = await ledger.completedReport();
    const first = await ledger.claimDelivery(report);
    await ledger.setClock(await shifted(ledger.sql, first.leaseEnd!, "0 seconds"));
    const second = await ledger.claimDelivery(report);
    expect(second).toMatchObject({ id: first.id, outcome: "taken_over" });
    expect(second.token).toMatch(UUID);
    expect(second.token).not.toBe(first.token);
    expect(second.leaseEnd).toEqual(new Date("2026-11-23T11:10:00Z"));
    expect(await ledger.delivery(first.id)).toMatchObject({ status: "running", attempts: 2 });
  });

  test("makes a row unknown whose lease ended after dispatch, and gives nobody a token", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    const { report_id: report } = await ledger.delivery(claim.id);
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "-1 microsecond"));
    expect(await ledger.claimDelivery(report, "email")).toMatchObject({ outcome: "busy" });
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "0 seconds"));
    for (let i = 0; i < 2; i++)
      expect(await ledger.claimDelivery(report, "email")).toEqual({
        id: claim.id,
        outcome: "unknown",
        token: null,
        leaseEnd: null,
      });
    expect(await ledger.delivery(claim.id)).toMatchObject({
      status: "unknown",
      error_code: "lease_expired_after_dispatch",
      masked_hint: "f***@example.com",
      settled_at: claim.leaseEnd,
      attempts: 1,
    });
  });

  test("answers a sent and an unknown row as they are and changes nothing", async () => {
    const sent = await ledger.dispatchedDelivery("email");
    await ledger.settle(sent, "sent", "provider-id");
    const unknown = await ledger.unknownDelivery("email");
    await ledger.moveClock("6 hours");
    for (const [claim, outcome] of [
      [sent, "sent"],
      [unknown, "unknown"],
    ] as const) {
      const before = await ledger.delivery(claim.id);
      expect(await ledger.claimDelivery(before.report_id, "email")).toEqual({
        id: claim.id,
        outcome,
        token: null,
        leaseEnd: null,
      });
      expect(await ledger.delivery(claim.id)).toEqual(before);
    }
  });

  test("resumes a failed row with a clean slate", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    await ledger.settle(claim, "failed", null, "provider_422");
    const { report_id: report } = await ledger.delivery(claim.id);
    const next = await ledger.claimDelivery(report, "email");
    expect(next).toMatchObject({ id: claim.id, outcome: "resumed" });
    expect(next.token).not.toBe(claim.token);
    expect(await ledger.delivery(claim.id)).toMatchObject({
      status: "running",
      attempts: 2,
      sender_tenant_id: null,
      masked_hint: null,
      error_code: null,
      dispatched_at: null,
      settled_at: null,
    });
  });

  test("refuses the report of an older week, whatever became of its delivery", async () => {
    const report = await ledger.completedReport();
    const claim = await ledger.claimDelivery(report);
    await ledger.settle(claim, "failed", null, "recipient_phone_missing");
    await ledger.moveClock("7 days");
    for (const channel of ["whatsapp", "email"])
      expect(await refusal(ledger.claimDelivery(report, channel))).toBe(
        "OW002 weekly_performance_window_not_last_closed",
      );
  });

  test("refuses another channel", async () => {
    const report = await ledger.completedReport();
    expect(await refusal(ledger.claimDelivery(report, "sms"))).toBe(
      "23514 weekly_performance_deliveries_channel",
    );
  });
});
