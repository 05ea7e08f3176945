import { expect, test } from "bun:test";
import { renderRepair } from "../../lib/deliveries/render.ts";
import { repairDeliveries } from "../../lib/deliveries/repair.ts";
import { openDatabase } from "../../lib/platform/database/pool.ts";
import { Secret } from "../../lib/platform/secrets/secret.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import type { Ledger } from "../sql/support/ledger.ts";
import { allowEntries, describeDeliveries, refuseEntries, withoutEntry } from "./support/deliveries.ts";

const NOTHING = { repaired: 0, failed: 0, failedIds: [], causes: [], remaining: 0 };

describeDeliveries("repairDeliveries()", (ledger) => {
  const entriesOf = async (id: string) => {
    const rows = await ledger.sql`select id from timeline_entries where metadata ->> 'deliveryId' = ${id}`;
    return rows.length;
  };

  test("writes each missing entry once, on any day", async () => {
    const some = [await withoutEntry(ledger), await withoutEntry(ledger)];
    await ledger.moveClock("3 days");
    expect(await repairDeliveries(ledger.sql)).toEqual({ ...NOTHING, repaired: 2 });
    for (const { id } of some) {
      expect(await ledger.delivery(id)).toMatchObject({ status: "sent", error_code: null });
      expect(await entriesOf(id)).toBe(1);
    }
    const again = await repairDeliveries(ledger.sql);
    expect([again, renderRepair(again, NO_TERMINAL)]).toEqual([NOTHING, "No timeline entry is missing.\n"]);
    for (const { id } of some) expect(await entriesOf(id)).toBe(1);
  });

  test("names those that the timeline still refuses, and writes the others", async () => {
    const [refused, good] = [await withoutEntry(ledger), await withoutEntry(ledger)];
    await refuseEntries(ledger, refused.tenantId);
    const repair = await repairDeliveries(ledger.sql);
    expect(repair).toEqual({
      repaired: 1,
      failed: 1,
      failedIds: [refused.id],
      causes: ["23514 no_entries"],
      remaining: 0,
    });
    expect(renderRepair(repair, NO_TERMINAL)).toStartWith(
      `1 written, 1 failed.\n\nStill missing:\n  ${refused.id}\n`,
    );
    expect(renderRepair(repair, NO_TERMINAL)).toContain(
      "The database refused these entries (23514 no_entries): look at",
    );
    expect(await entriesOf(good.id)).toBe(1);
    await allowEntries(ledger);
    expect(await repairDeliveries(ledger.sql)).toEqual({ ...NOTHING, repaired: 1 });
  });

  test("says why the timeline refuses them, each reason once, and nothing of a row", async () => {
    for (let i = 0; i < 3; i++) await withoutEntry(ledger);
    await ledger.sql.unsafe(`
      create function refuse_entry() returns trigger language plpgsql as
        $$ begin raise exception 'no entry for %', new.tenant_id using detail = new::text; end $$;
      create trigger refuse_entry before insert on timeline_entries for each row execute function refuse_entry()`);
    expect(await repairDeliveries(ledger.sql)).toMatchObject({ repaired: 0, failed: 3, causes: ["P0001"] });
    await ledger.sql`drop trigger refuse_entry on timeline_entries`;
    await ledger.sql`alter table timeline_entries rename to moved_entries`;
    expect(await repairDeliveries(ledger.sql)).toMatchObject({ repaired: 0, failed: 3, causes: ["42P01"] });
    await ledger.sql`alter table moved_entries rename to timeline_entries`;
    expect(await repairDeliveries(ledger.sql)).toEqual({ ...NOTHING, repaired: 3 });
  });

  test("two operators at once write each entry once", async () => {
    const some = await Promise.all(Array.from({ length: 12 }, () => newSent(ledger)));
    await spoil(ledger);
    const [one, other] = await Promise.all([repairOn(ledger), repairOn(ledger)]);
    expect(one.repaired + other.repaired).toBeGreaterThanOrEqual(some.length);
    expect([one.failed, other.failed]).toEqual([0, 0]);
    for (const id of some) expect(await entriesOf(id)).toBe(1);
  });

  test("misses nothing of a delivery that goes with its user meanwhile", async () => {
    const [erased, good] = [await withoutEntry(ledger), await withoutEntry(ledger)];
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const erasure = ledger.sql.begin(async (tx) => {
      await tx`delete from users where tenant_id = ${erased.tenantId}`;
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const repairing = repairOn(ledger);
    await ledger.untilWaiting();
    release.resolve();
    await erasure;
    expect(await repairing).toMatchObject({ failed: 0, remaining: 0 });
    expect([await ledger.delivery(erased.id), await entriesOf(good.id)]).toEqual([undefined!, 1]);
  });

  test("goes on in batches, and gives up after a thousand refusals in a row", async () => {
    await manyWithoutEntry(ledger, 1_250);
    await refuseEntries(ledger);
    const given = await repairDeliveries(ledger.sql);
    expect(given).toMatchObject({ repaired: 0, failed: 1_000, remaining: 250 });
    expect(given.failedIds).toHaveLength(100);
    expect(renderRepair(given, NO_TERMINAL)).toContain("  and 900 more\n");
    expect(renderRepair(given, NO_TERMINAL)).toStartWith("0 written, 1000 failed, 250 not tried.\n");
    await allowEntries(ledger);
    expect(await repairDeliveries(ledger.sql)).toEqual({ ...NOTHING, repaired: 1_250 });
  });

  test("ends when a batch takes too long in the database, and at a signal", async () => {
    await withoutEntry(ledger);
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holder = ledger.sql.begin(async (tx) => {
      await tx`lock table timeline_entries in access exclusive mode`;
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    await expect(repairOn(ledger, { limitMs: 200 })).rejects.toMatchObject({ code: "STATEMENT_TIMEOUT" });
    release.resolve();
    await holder;
    const stopped = await repairDeliveries(ledger.sql, { interrupt: AbortSignal.abort() });
    expect(stopped.repaired + stopped.failed).toBe(0);
  });
});

async function repairOn(ledger: Ledger, options: Parameters<typeof repairDeliveries>[1] = {}) {
  const url = new Secret(ledger.database.url);
  const database = await openDatabase(url, { max: 1, applicationName: "opsctl-test", closeLimitMs: 300 });
  try {
    return await repairDeliveries(database.sql, options);
  } finally {
    await database.close();
  }
}

async function newSent(ledger: Ledger): Promise<string> {
  const claim = await ledger.claimDelivery(await ledger.completedReport());
  await ledger.dispatch(claim);
  await ledger.settle(claim, "sent", `BAE5${claim.id.slice(0, 8).toUpperCase()}`);
  return claim.id;
}

/** Takes the entries of all sent deliveries away, as if they had been refused. */
async function spoil(ledger: Ledger): Promise<void> {
  await ledger.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx`delete from timeline_entries`;
    await tx`update weekly_performance_deliveries set error_code = 'timeline_entry_failed' where status = 'sent'`;
  });
}

async function manyWithoutEntry(ledger: Ledger, count: number): Promise<void> {
  const { tenantId, userId } = await ledger.newOwner();
  await ledger.sql`
    with reports as (
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status)
      select ${tenantId}, ${userId}, '2026-11-16T03:00Z', '2026-11-23T03:00Z', version, 'failed'
      from generate_series(1, ${count}::integer) as version returning id, tenant_id, user_id
    )
    insert into weekly_performance_deliveries
      (report_id, tenant_id, user_id, channel, status, provider_message_id, error_code, masked_hint, dispatched_at,
       settled_at)
    select id, tenant_id, user_id, 'whatsapp', 'sent', 'BAE5' || id, 'timeline_entry_failed', '4321', now(), now()
    from reports`;
}
