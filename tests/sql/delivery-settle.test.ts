import { expect, test } from "bun:test";
import { MONDAY } from "../support/seed.ts";
import { describeLedger, refusal } from "./support/ledger.ts";

describeLedger("settle_weekly_performance_delivery()", (ledger) => {
  test("records what was sent under the provider's id", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    expect(await ledger.settle(claim, "sent", "provider-id")).toEqual({ status: "sent", code: null });
    const row = await ledger.delivery(claim.id);
    expect(row).toMatchObject({ status: "sent", provider_message_id: "provider-id", error_code: null });
    // Apart: toMatchObject takes any date for any other.
    expect(row.settled_at).toEqual(new Date(MONDAY));
  });

  test("records a proven failure, before dispatch and after it", async () => {
    const before = await ledger.claimDelivery(await ledger.completedReport());
    expect(await ledger.settle(before, "failed", null, "recipient_phone_missing")).toEqual({
      status: "failed",
      code: "recipient_phone_missing",
    });
    const after = await ledger.dispatchedDelivery("email");
    await ledger.settle(after, "failed", null, "provider_422");
    expect(await ledger.delivery(after.id)).toMatchObject({
      status: "failed",
      error_code: "provider_422",
      masked_hint: "f***@example.com",
    });
  });

  test("records what may have been sent as unknown", async () => {
    const claim = await ledger.dispatchedDelivery();
    await ledger.settle(claim, "unknown", null, "provider_timeout");
    expect(await ledger.delivery(claim.id)).toMatchObject({
      status: "unknown",
      error_code: "provider_timeout",
      provider_message_id: null,
    });
  });

  test("a settlement after the lease but before any takeover still counts", async () => {
    for (const status of ["sent", "failed", "unknown"]) {
      const claim = await ledger.dispatchedDelivery("email");
      await ledger.moveClock("3 hours");
      if (status === "sent") await ledger.settle(claim, status, "late-id");
      else await ledger.settle(claim, status, null, "provider_timeout");
      expect(await ledger.delivery(claim.id)).toMatchObject({ status });
      await ledger.setClock(MONDAY);
    }
  });

  test("a settlement after a takeover is refused, and the new holder's row stays as it is", async () => {
    for (const channel of ["whatsapp", "email"]) {
      const claim = await ledger.claimDelivery(await ledger.completedReport(), channel);
      await ledger.moveClock("5 minutes");
      const { report_id: report } = await ledger.delivery(claim.id);
      await ledger.claimDelivery(report, channel);
      const before = await ledger.delivery(claim.id);
      for (const token of [claim.token, null]) {
        const stale = { ...claim, token };
        for (const late of [
          () => ledger.settle(stale, "sent", "late-id"),
          () => ledger.settle(stale, "failed", null, "APP_TIMEOUT"),
        ])
          expect(await refusal(late())).toBe("OW022 delivery_token_mismatch");
      }
      expect(await ledger.delivery(claim.id)).toEqual(before);
      await ledger.setClock(MONDAY);
    }
  });

  test("an unknown result that another run made of the expired lease stays unknown", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    const { report_id: report } = await ledger.delivery(claim.id);
    await ledger.moveClock("5 minutes");
    expect(await ledger.claimDelivery(report, "email")).toMatchObject({ outcome: "unknown" });
    expect(await refusal(ledger.settle(claim, "sent", "late-id"))).toBe("OW024 delivery_not_running");
    expect(await ledger.delivery(claim.id)).toMatchObject({ status: "unknown" });
  });

  test("a settlement repeated with the same values succeeds without a write, with others is refused", async () => {
    const calls = [
      ["sent", "provider-id", null, ["sent", "another-id", null]],
      ["failed", null, "provider_422", ["failed", null, "provider_403"]],
      ["unknown", null, "provider_timeout", ["sent", "provider-id", null]],
    ] as const;
    for (const [status, id, code, [otherStatus, otherId, otherCode]] of calls) {
      const claim = await ledger.dispatchedDelivery("email");
      await ledger.settle(claim, status, id, code);
      const before = await ledger.delivery(claim.id);
      await ledger.moveClock("1 minute");
      expect(await ledger.settle(claim, status, id, code)).toEqual({ status, code });
      expect(await ledger.delivery(claim.id)).toEqual(before);
      expect(await refusal(ledger.settle(claim, otherStatus, otherId, otherCode))).toBe(
        "OW024 delivery_not_running",
      );
      await ledger.setClock(MONDAY);
    }
  });

  test("restores a dispatch that a failover has forgotten, and invents none for what was not sent", async () => {
    for (const channel of ["whatsapp", "email"]) {
      const settled = async (status: string, id: string | null, code: string | null) => {
        const claim = await ledger.claimDelivery(await ledger.completedReport(), channel);
        await ledger.settle(claim, status, id, code);
        return (await ledger.delivery(claim.id)).dispatched_at?.toISOString() ?? null;
      };
      expect(await settled("sent", `provider-id-${channel}`, null)).toBe(new Date(MONDAY).toISOString());
      expect(await settled("unknown", null, "timeout")).toBe(new Date(MONDAY).toISOString());
      expect(await settled("failed", null, "recipient_phone_missing")).toBeNull();
    }
  });

  test("keeps the instant of a dispatch, whatever came of it", async () => {
    for (const channel of ["whatsapp", "email"])
      for (const [status, id, code] of [
        ["sent", `kept-${channel}`, null],
        ["failed", null, "provider_422"],
        ["unknown", null, "provider_timeout"],
      ] as const) {
        const claim = await ledger.dispatchedDelivery(channel);
        await ledger.moveClock("1 minute");
        await ledger.settle(claim, status, id, code);
        const { dispatched_at, settled_at } = await ledger.delivery(claim.id);
        expect([dispatched_at, settled_at]).toEqual([new Date(MONDAY), new Date("2026-11-23T11:01:00Z")]);
        await ledger.setClock(MONDAY);
      }
  });

  test("a settlement of a row that went with its owner is erased, for any status", async () => {
    const gone = { id: crypto.randomUUID(), outcome: "claimed", token: crypto.randomUUID(), leaseEnd: null };
    expect(await ledger.settle(gone, "sent", "provider-id")).toEqual({ status: "erased", code: null });
    expect(await ledger.settle(gone, "failed", null, "x")).toEqual({ status: "erased", code: null });
  });

  test("refuses a state that is not final and a result that is not whole", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    for (const status of ["running", "pending", "delivered", null])
      expect(await refusal(ledger.settle(claim, status, "id"))).toBe("OW028 delivery_status_not_final");
    const incomplete = [
      ["sent", null, null],
      ["sent", "", null],
      ["sent", "id", "code"],
      ["failed", null, null],
      ["failed", "id", "code"],
      ["unknown", null, null],
      ["unknown", "id", "code"],
    ] as const;
    for (const [status, id, code] of incomplete)
      expect(await refusal(ledger.settle(claim, status, id, code))).toBe("OW029 delivery_result_incomplete");
    expect(await refusal(ledger.settle(claim, "failed", null, "to fulano@example.com"))).toBe(
      "23514 weekly_performance_deliveries_error_code",
    );
    expect(await ledger.delivery(claim.id)).toMatchObject({ status: "running" });
  });
});
