import { expect, test } from "bun:test";
import type postgres from "postgres";
import { describeLedger, type Ledger, refusal } from "./support/ledger.ts";

/** The same message for two deliveries, the second while the first session has not committed. */
async function race(
  ledger: Ledger,
  { commits }: { commits: boolean },
): Promise<{ second: string; refused: string | null }> {
  const [one, other] = [await ledger.unknownDelivery("email"), await ledger.unknownDelivery("email")];
  const id = `message-of-${one.id}`;
  let second: Promise<unknown> | undefined;
  await ledger.sql
    .begin(async (tx: postgres.TransactionSql) => {
      const session = ledger.on(tx);
      await session.reconcile(one.id, "sent", id);
      second = ledger.reconcile(other.id, "sent", id);
      // What it is refused with is looked at below.
      second.catch(() => {});
      await Promise.race([ledger.untilWaiting(), second.catch(() => {})]);
      if (!commits) throw new Error("rolled back");
    })
    .catch(() => {});
  if (!commits) await second!;
  const refused = commits ? await refusal(second!) : null;
  return { second: (await ledger.delivery(other.id)).status, refused };
}

describeLedger(
  "reconcile_weekly_performance_delivery() with a message that another session is just giving",
  (ledger) => {
    test("waits for that session, and is refused: one message is never two deliveries'", async () => {
      expect(await race(ledger, { commits: true })).toEqual({
        second: "unknown",
        refused: "OW034 provider_message_of_another_delivery",
      });
    });

    test("takes it when that session rolls back", async () => {
      expect(await race(ledger, { commits: false })).toEqual({ second: "sent", refused: null });
    });
  },
);
