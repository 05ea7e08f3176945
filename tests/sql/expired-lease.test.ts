import { expect, test } from "bun:test";
import { describeLedger, refusal } from "./support/ledger.ts";

/** What a killed run leaves is what it means, also when no run comes by any more. */
describeLedger("a lease that has expired", (ledger) => {
  test("after dispatch can be reconciled on any day, as what was in doubt", async () => {
    const claim = await ledger.dispatchedDelivery();
    await ledger.moveClock("4 minutes 59.999999 seconds");
    expect(await refusal(ledger.reconcile(claim.id, "sent", "id"))).toBe("OW030 delivery_not_unknown");
    await ledger.moveClock("2 days");
    expect(await ledger.reconcile(claim.id, "sent", "BAE5F00D")).toEqual({ status: "sent", code: null });
    expect(await ledger.delivery(claim.id)).toMatchObject({
      status: "sent",
      provider_message_id: "BAE5F00D",
    });
    const entries = await ledger.sql`
      select from timeline_entries where metadata ->> 'deliveryId' = ${claim.id}`;
    expect(entries.length).toBe(1);
  });

  test("after dispatch can be reconciled to failed, and a late settle of the holder is refused then", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    await ledger.moveClock("5 minutes");
    expect(await ledger.reconcile(claim.id, "failed", null)).toEqual({
      status: "failed",
      code: "reconciled_not_sent",
    });
    expect(await refusal(ledger.settle(claim, "sent", "id"))).toBe("OW024 delivery_not_running");
  });

  test("before dispatch is no doubt: there is nothing to reconcile", async () => {
    const claim = await ledger.claimDelivery(await ledger.completedReport());
    await ledger.moveClock("1 day");
    expect(await refusal(ledger.reconcile(claim.id, "failed", null))).toBe("OW030 delivery_not_unknown");
  });

  test("leaves nothing changed when the reconciliation is refused", async () => {
    const claim = await ledger.dispatchedDelivery();
    await ledger.moveClock("1 day");
    const before = await ledger.delivery(claim.id);
    expect(await refusal(ledger.reconcile(claim.id, "failed", null, "call 11 98765-4321"))).toContain(
      "privacy",
    );
    expect(await ledger.delivery(claim.id)).toEqual(before);
  });

  test("means failed before dispatch and unknown after it, at the very instant", async () => {
    const [row] = await ledger.sql`
      with at as (select public.weekly_performance_now() as now)
      select
        public.weekly_performance_report_state('running', now + interval '1 microsecond', now) as held,
        public.weekly_performance_report_state('running', now, now) as expired,
        public.weekly_performance_report_state('completed', now, now) as completed,
        public.weekly_performance_delivery_state('running', null, now + interval '1 microsecond', now) as claimed,
        public.weekly_performance_delivery_state('running', null, now, now) as undispatched,
        public.weekly_performance_delivery_state('running', now, now, now) as dispatched,
        public.weekly_performance_delivery_state('sent', now, now, now) as sent,
        public.weekly_performance_delivery_state('pending', null, null, now) as pending
      from at`;
    expect(row).toEqual({
      held: "running",
      expired: "failed",
      completed: "completed",
      claimed: "running",
      undispatched: "failed",
      dispatched: "unknown",
      sent: "sent",
      pending: "pending",
    });
  });
});
