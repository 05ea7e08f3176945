import { expect, test } from "bun:test";
import { describeLedger, type Ledger, refusal } from "./support/ledger.ts";

async function repair(ledger: Ledger, id: string) {
  const [row] = await ledger.sql`
    select status, error_code as code from public.repair_weekly_performance_delivery(${id})`;
  return row as { status: string; code: string | null };
}

/** A sent WhatsApp delivery whose timeline entry could not be written. */
async function sentWithoutEntry(ledger: Ledger): Promise<string> {
  const claim = await ledger.dispatchedDelivery();
  await breakTimeline(ledger);
  await ledger.settle(claim, "sent", "BAE5F00D");
  await mendTimeline(ledger);
  return claim.id;
}

async function breakTimeline(ledger: Ledger): Promise<void> {
  await ledger.sql`alter table timeline_entries add constraint broken check (source is null) not valid`;
}

async function mendTimeline(ledger: Ledger): Promise<void> {
  await ledger.sql`alter table timeline_entries drop constraint broken`;
}

async function entries(ledger: Ledger, id: string): Promise<number> {
  const rows = await ledger.sql`select from timeline_entries where metadata ->> 'deliveryId' = ${id}`;
  return rows.length;
}

describeLedger("repair_weekly_performance_delivery()", (ledger) => {
  test("writes the missing entry once, on any day, and keeps everything else of the sent row", async () => {
    const id = await sentWithoutEntry(ledger);
    const before = await ledger.delivery(id);
    expect(before.error_code).toBe("timeline_entry_failed");
    await ledger.moveClock("3 days");
    for (let i = 0; i < 2; i += 1) expect(await repair(ledger, id)).toEqual({ status: "sent", code: null });
    expect(await entries(ledger, id)).toBe(1);
    const { updated_at } = await ledger.delivery(id);
    expect(await ledger.delivery(id)).toEqual({ ...before, error_code: null, updated_at });
  });

  test("keeps the remark while the entry still cannot be written", async () => {
    const id = await sentWithoutEntry(ledger);
    await breakTimeline(ledger);
    expect(await repair(ledger, id)).toEqual({ status: "sent", code: "timeline_entry_failed" });
    await mendTimeline(ledger);
    expect(await entries(ledger, id)).toBe(0);
  });

  test("a repair by ten sessions at once writes one entry", async () => {
    const id = await sentWithoutEntry(ledger);
    await Promise.all(Array.from({ length: 10 }, () => repair(ledger, id)));
    expect(await entries(ledger, id)).toBe(1);
  });

  test("changes no other delivery, and refuses an id that the ledger does not have", async () => {
    const claim = await ledger.unknownDelivery();
    const before = await ledger.delivery(claim.id);
    expect(await repair(ledger, claim.id)).toEqual({ status: "unknown", code: "provider_timeout" });
    expect(await ledger.delivery(claim.id)).toEqual(before);
    expect(await refusal(repair(ledger, crypto.randomUUID()))).toBe("OW021 delivery_not_found");
  });

  test("is the only change that a sent row takes", async () => {
    const id = await sentWithoutEntry(ledger);
    for (const change of [
      "error_code = 'other'",
      "error_code = null, provider_message_id = 'other'",
      "error_code = null, settled_at = now()",
      "error_code = null, status = 'failed', provider_message_id = null",
    ])
      expect(
        await refusal(
          ledger.sql.unsafe(`update weekly_performance_deliveries set ${change} where id = '${id}'`),
        ),
      ).toBe("OW026 delivery_sent_is_immutable");
  });
});
