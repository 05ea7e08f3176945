import { afterAll, beforeAll, beforeEach, describe } from "bun:test";
import { Ledger, MONDAY } from "../../sql/support/ledger.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";

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
