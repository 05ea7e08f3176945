import { expect, test } from "bun:test";
import { type Finding, reconcileDelivery } from "../../lib/deliveries/reconcile.ts";
import { renderReconciled } from "../../lib/deliveries/render.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { describeDeliveries, failedDelivery } from "./support/deliveries.ts";

const NOT_SENT: Finding = { to: "failed", providerMessageId: null, reason: "Not in the log", actor: "ana" };

describeDeliveries("reconcileDelivery()", (ledger) => {
  test("settles an unknown delivery either way", async () => {
    const failed = await ledger.unknownDelivery("email");
    const answer = await reconcileDelivery(ledger.sql, failed.id, NOT_SENT);
    expect(answer).toEqual({ id: failed.id, state: "failed", code: "reconciled_not_sent" });
    expect(renderReconciled(answer, NO_TERMINAL)).toBe(
      `Delivery ${failed.id} is failed now (reconciled_not_sent).\n`,
    );

    const sent = await ledger.unknownDelivery("whatsapp");
    const found: Finding = { ...NOT_SENT, to: "sent", providerMessageId: "BAE5F00D" };
    expect(await reconcileDelivery(ledger.sql, sent.id, found)).toEqual({
      id: sent.id,
      state: "sent",
      code: null,
    });
    expect(await ledger.delivery(sent.id)).toMatchObject({ status: "sent", provider_message_id: "BAE5F00D" });
  });

  test("takes a dispatched delivery whose run was killed, from the end of its lease on, on any day", async () => {
    const { id } = await ledger.dispatchedDelivery("email");
    await ledger.moveClock("4 minutes 59 seconds");
    await expect(reconcileDelivery(ledger.sql, id, NOT_SENT)).rejects.toMatchObject({
      code: "DELIVERY_NOT_UNKNOWN",
    });
    await ledger.moveClock("3 days");
    expect(await reconcileDelivery(ledger.sql, id, NOT_SENT)).toMatchObject({ state: "failed" });
  });

  test("fails with a code for each reason, and changes nothing", async () => {
    const { id: failed } = await failedDelivery(ledger);
    const { id: unknown } = await ledger.unknownDelivery("email");
    const before = await ledger.delivery(unknown);
    const refused: [string, Partial<Finding>, string][] = [
      [crypto.randomUUID(), {}, "DELIVERY_NOT_FOUND"],
      [failed, {}, "DELIVERY_NOT_UNKNOWN"],
      [unknown, { reason: "fulano@example.com has it not" }, "RECONCILE_REASON_PRIVATE"],
      [unknown, { reason: "asked 11 98765-4321" }, "RECONCILE_REASON_PRIVATE"],
      [unknown, { to: "sent" }, "RECONCILE_INVALID"],
      [unknown, { providerMessageId: "id" }, "RECONCILE_INVALID"],
      [unknown, { to: "sent", providerMessageId: "x".repeat(513) }, "RECONCILE_INVALID"],
      [unknown, { to: "sent", providerMessageId: "5511987654321@s.whatsapp.net" }, "RECONCILE_INVALID"],
      [unknown, { to: "sent", providerMessageId: "fulano@example.com" }, "RECONCILE_INVALID"],
      [unknown, { to: "sent", providerMessageId: "+55 11 98765-4321" }, "RECONCILE_INVALID"],
      [unknown, { to: "sent", providerMessageId: "11987654321" }, "RECONCILE_INVALID"],
      [unknown, { actor: "fulano@example.com" }, "RECONCILE_INVALID"],
      [unknown, { actor: "11 98765-4321" }, "RECONCILE_INVALID"],
      [unknown, { reason: "  " }, "RECONCILE_INVALID"],
      [unknown, { actor: "x".repeat(201) }, "RECONCILE_INVALID"],
    ];
    for (const [id, wrong, code] of refused) {
      const call = reconcileDelivery(ledger.sql, id, { ...NOT_SENT, ...wrong });
      const error = await call.then(
        () => null,
        (reason) => reason,
      );
      expect([wrong, error.code]).toEqual([wrong, code]);
      expect(`${error.message} ${error.hint}`).not.toMatch(/fulano|98765/);
    }
    expect(await ledger.delivery(unknown)).toEqual(before);
  });
});
