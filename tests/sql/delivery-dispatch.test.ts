import { expect, test } from "bun:test";
import { MONDAY } from "../support/seed.ts";
import { describeLedger, refusal, SENDER, shifted } from "./support/ledger.ts";

describeLedger("dispatch_weekly_performance_delivery()", (ledger) => {
  async function claimed(channel = "whatsapp") {
    return await ledger.claimDelivery(await ledger.completedReport(), channel);
  }

  test("notes when, by whose instance and to which mask", async () => {
    const claim = await claimed();
    await ledger.dispatch(claim, "4321");
    const row = await ledger.delivery(claim.id);
    expect(row).toMatchObject({ status: "running", sender_tenant_id: SENDER, masked_hint: "4321" });
    // Apart: toMatchObject takes any date for any other.
    expect(row.dispatched_at).toEqual(new Date(MONDAY));
  });

  test("refuses at exactly the end of the lease, and accepts just before it", async () => {
    const claim = await claimed();
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "0 seconds"));
    expect(await refusal(ledger.dispatch(claim))).toBe("OW023 delivery_lease_expired");
    expect(await ledger.delivery(claim.id)).toMatchObject({ dispatched_at: null });
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "-1 microsecond"));
    await ledger.dispatch(claim);
  });

  test("refuses a lost, a foreign and an absent token, and a missing row", async () => {
    const claim = await claimed();
    await ledger.moveClock("5 minutes");
    const { report_id: report } = await ledger.delivery(claim.id);
    const next = await ledger.claimDelivery(report);
    for (const token of [claim.token, crypto.randomUUID(), null])
      expect(await refusal(ledger.dispatch({ ...next, token }))).toBe("OW022 delivery_token_mismatch");
    expect(await refusal(ledger.dispatch({ ...next, id: crypto.randomUUID() }))).toBe(
      "OW021 delivery_not_found",
    );
    await ledger.dispatch(next);
  });

  test("a dispatch repeated with the same values keeps the first instant, with others is refused", async () => {
    const claim = await claimed();
    await ledger.dispatch(claim, "4321");
    const before = await ledger.delivery(claim.id);
    await ledger.moveClock("1 minute");
    await ledger.dispatch(claim, "4321");
    expect(await ledger.delivery(claim.id)).toEqual(before);
    expect(await refusal(ledger.dispatch(claim, "1234"))).toBe("OW027 delivery_already_dispatched");
    expect(await refusal(ledger.dispatch(claim, "4321", crypto.randomUUID()))).toBe(
      "OW027 delivery_already_dispatched",
    );
  });

  test("refuses without a hint or a sender: nothing may be sent that cannot be audited", async () => {
    const claim = await claimed();
    expect(await refusal(ledger.dispatch(claim, null))).toBe("OW032 delivery_audit_data_missing");
    expect(await refusal(ledger.dispatch(claim, "4321", null))).toBe("OW032 delivery_audit_data_missing");
  });

  test("refuses a row that is settled", async () => {
    const claim = await claimed();
    await ledger.settle(claim, "failed", null, "recipient_phone_missing");
    expect(await refusal(ledger.dispatch(claim))).toBe("OW024 delivery_not_running");
  });

  test("refuses a hint that is no mask", async () => {
    const whatsapp = await claimed("whatsapp");
    for (const hint of ["5511987654321", "87654321", "321", "f***@example.com", ""])
      expect(await refusal(ledger.dispatch(whatsapp, hint))).toBe(
        "23514 weekly_performance_deliveries_masked_hint",
      );
    const email = await claimed("email");
    for (const hint of ["fulano@example.com", "fu***@example.com", "***@example.com", "f***@", "4321"])
      expect(await refusal(ledger.dispatch(email, hint))).toBe(
        "23514 weekly_performance_deliveries_masked_hint",
      );
    await ledger.dispatch(email, "é***@example.com");
  });
});
