import { expect, test } from "bun:test";
import { describeLedger, type Ledger } from "./support/ledger.ts";

async function entriesOf(ledger: Ledger, deliveryId: string) {
  return await ledger.sql`
    select tenant_id, user_id, source, kind, title, metadata from timeline_entries
    where metadata ->> 'deliveryId' = ${deliveryId}`;
}

/** Makes every insert into the timeline fail, at once or not before the commit, while `work` runs. */
async function withBrokenTimeline(
  ledger: Ledger,
  when: "at once" | "at commit" | "by a time limit",
  work: () => Promise<void>,
): Promise<void> {
  await ledger.sql.unsafe(`
    create or replace function break_timeline() returns trigger language plpgsql as
      $$ begin raise exception using message = 'the timeline is broken',
           errcode = '${when === "by a time limit" ? "query_canceled" : "raise_exception"}'; end $$;
    create constraint trigger break_timeline after insert on timeline_entries
      deferrable initially ${when === "at commit" ? "deferred" : "immediate"}
      for each row execute function break_timeline();`);
  try {
    await work();
  } finally {
    await ledger.sql`drop trigger break_timeline on timeline_entries`;
  }
}

describeLedger("the timeline entry", (ledger) => {
  test("is written once for a WhatsApp message, with what it is about and no number", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.completedReport(owner);
    const claim = await ledger.claimDelivery(report, "whatsapp");
    await ledger.dispatch(claim);
    for (let i = 0; i < 2; i++)
      expect(await ledger.settle(claim, "sent", "BAE5F00D")).toEqual({ status: "sent", code: null });
    expect(Array.from(await entriesOf(ledger, claim.id))).toEqual([
      {
        tenant_id: owner.tenantId,
        user_id: owner.userId,
        source: "weekly_performance_report",
        kind: "whatsapp",
        title: "Relatório semanal de desempenho enviado por WhatsApp",
        metadata: {
          reportId: report,
          deliveryId: claim.id,
          providerMessageId: "BAE5F00D",
          week: "2026-11-16",
        },
      },
    ]);
  });

  test("is not written for an e-mail, a failure or an unknown result", async () => {
    const email = await ledger.dispatchedDelivery("email");
    await ledger.settle(email, "sent", "provider-id");
    const failed = await ledger.dispatchedDelivery();
    await ledger.settle(failed, "failed", null, "provider_400");
    const unknown = await ledger.unknownDelivery();
    for (const claim of [email, failed, unknown]) expect((await entriesOf(ledger, claim.id)).length).toBe(0);
  });

  for (const when of ["at once", "at commit", "by a time limit"] as const)
    test(`a timeline entry that fails ${when} leaves the message sent, with a remark`, async () => {
      const claim = await ledger.dispatchedDelivery();
      const remark = { status: "sent", code: "timeline_entry_failed" };
      await withBrokenTimeline(ledger, when, async () => {
        expect(await ledger.settle(claim, "sent", "BAE5F00D")).toEqual(remark);
      });
      expect(await ledger.delivery(claim.id)).toMatchObject({
        status: "sent",
        provider_message_id: "BAE5F00D",
        error_code: "timeline_entry_failed",
      });
      // Repeated when the timeline works again: the remark stays, and no entry is added.
      expect(await ledger.settle(claim, "sent", "BAE5F00D")).toEqual(remark);
      expect((await entriesOf(ledger, claim.id)).length).toBe(0);
    });

  test("is written by the reconciliation of a WhatsApp delivery to sent", async () => {
    const sent = await ledger.unknownDelivery();
    await ledger.reconcile(sent.id, "sent", "BAE5F001");
    expect((await entriesOf(ledger, sent.id)).length).toBe(1);
    const failed = await ledger.unknownDelivery();
    await ledger.reconcile(failed.id, "failed", null);
    expect((await entriesOf(ledger, failed.id)).length).toBe(0);
  });

  test("a timeline entry that fails during a reconciliation leaves it sent, with a remark", async () => {
    const claim = await ledger.unknownDelivery();
    await withBrokenTimeline(ledger, "at once", async () => {
      expect(await ledger.reconcile(claim.id, "sent", "BAE5F002")).toEqual({
        status: "sent",
        code: "timeline_entry_failed",
      });
    });
  });
});
