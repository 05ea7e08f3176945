import { afterAll, beforeAll, beforeEach, describe } from "bun:test";
import { Ledger } from "../../sql/support/ledger.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { MONDAY } from "../../support/seed.ts";

/** Registers tests on one migrated database whose clock starts on a Monday. */
export function describeDeliveries(name: string, define: (ledger: Ledger) => void): void {
  describe(name, () => {
    let database: TestDatabase;
    const ledger = new Ledger(() => database);
    beforeAll(async () => {
      database = await (await sharedPostgres()).createDatabase();
    });
    beforeEach(async () => {
      await ledger.setClock(MONDAY);
    });
    afterAll(async () => {
      await database.drop();
    });
    define(ledger);
  });
}

/** A WhatsApp delivery of a new owner that failed before anything was sent. */
export async function failedDelivery(ledger: Ledger): Promise<{ id: string; tenantId: string }> {
  const owner = await ledger.newOwner();
  const claim = await ledger.claimDelivery(await ledger.completedReport(owner));
  await ledger.settle(claim, "failed", null, "recipient_phone_missing");
  return { id: claim.id, tenantId: owner.tenantId };
}

/** A WhatsApp delivery of a new owner that was sent while the application's timeline took no entry. */
export async function withoutEntry(ledger: Ledger): Promise<{ id: string; tenantId: string }> {
  const owner = await ledger.newOwner();
  const claim = await ledger.claimDelivery(await ledger.completedReport(owner));
  await ledger.dispatch(claim);
  await refuseEntries(ledger);
  await ledger.settle(claim, "sent", `BAE5${claim.id.slice(0, 8).toUpperCase()}`);
  await allowEntries(ledger);
  return { id: claim.id, tenantId: owner.tenantId };
}

/** From here on the timeline refuses every entry, or those of one tenant. */
export async function refuseEntries(ledger: Ledger, tenantId?: string): Promise<void> {
  const which = tenantId === undefined ? "false" : `tenant_id <> '${tenantId}'`;
  await ledger.sql.unsafe(
    `alter table timeline_entries add constraint no_entries check (${which}) not valid`,
  );
}

/** The timeline takes entries again. */
export async function allowEntries(ledger: Ledger): Promise<void> {
  await ledger.sql`alter table timeline_entries drop constraint if exists no_entries`;
}
