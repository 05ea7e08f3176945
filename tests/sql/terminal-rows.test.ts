import { expect, test } from "bun:test";
import { describeLedger, refusal } from "./support/ledger.ts";

/** Edits by the superuser, who owns the tables: what the guards refuse to everybody. */
describeLedger("a finished row", (ledger) => {
  const edit = (table: "reports" | "deliveries", id: string, set: string) =>
    refusal(ledger.sql.unsafe(`update weekly_performance_${table} set ${set} where id = '${id}'`));

  test("a completed report is never edited", async () => {
    const id = await ledger.completedReport();
    const before = await ledger.report(id);
    for (const set of [
      "status = 'running', payload = null",
      "status = 'failed'",
      "payload = '{}'",
      "fingerprint = repeat('0', 64)",
      "updated_at = now()",
    ])
      expect(await edit("reports", id, set)).toBe("OW012 report_completed_is_immutable");
    expect(await ledger.report(id)).toEqual(before);
  });

  test("a report that is not yet completed keeps its identity", async () => {
    const { id } = await ledger.claimReport(await ledger.newOwner());
    for (const set of ["schema_version = 2", "window_start = window_start - interval '1 hour'"])
      expect(await edit("reports", id, set)).toBe("OW012 report_identity_is_immutable");
  });

  test("a sent delivery is never edited", async () => {
    const { id, ...claim } = await ledger.dispatchedDelivery("email");
    await ledger.settle({ id, ...claim }, "sent", "provider-id");
    const before = await ledger.delivery(id);
    for (const set of [
      "status = 'failed', provider_message_id = null",
      "provider_message_id = 'another'",
      "masked_hint = 'g***@example.com'",
      "attempts = 0",
    ])
      expect(await edit("deliveries", id, set)).toBe("OW026 delivery_sent_is_immutable");
    expect(await ledger.delivery(id)).toEqual(before);
  });

  test("an unknown delivery is edited by reconciliation only", async () => {
    const { id } = await ledger.unknownDelivery("email");
    const before = await ledger.delivery(id);
    for (const set of [
      "status = 'failed'",
      "status = 'sent', provider_message_id = 'id'",
      "status = 'running'",
      "error_code = 'other'",
      "dispatched_at = now()",
    ])
      expect(await edit("deliveries", id, set)).toBe("OW026 delivery_unknown_is_terminal");
    expect(await ledger.delivery(id)).toEqual(before);
  });

  test("an unknown delivery is not edited under a record that says something else", async () => {
    const { id } = await ledger.unknownDelivery("email");
    const edit = ledger.sql.begin(async (tx) => {
      await tx`
        insert into weekly_performance_reconciliations (delivery_id, status, provider_message_id, reason, actor)
        values (${id}, 'sent', 'provider-id', 'Found', 'operator')`;
      await tx`
        update weekly_performance_deliveries set status = 'sent', provider_message_id = 'another-id'
        where id = ${id}`;
    });
    expect(await refusal(edit)).toBe("OW026 delivery_unknown_is_terminal");
  });

  test("a running delivery keeps its identity", async () => {
    const { id } = await ledger.dispatchedDelivery("email");
    for (const set of ["channel = 'whatsapp', masked_hint = null", "report_id = gen_random_uuid()"])
      expect(await edit("deliveries", id, set)).toBe("OW026 delivery_identity_is_immutable");
  });
});
