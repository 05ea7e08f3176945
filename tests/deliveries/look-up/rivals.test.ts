import { describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { lookUpFixture } from "../support/look-up-fixture.ts";

const fixture = lookUpFixture();
const phone = "+55 (11) 95111-2222";

/** Two messages to one number with one text, of which the gateway keeps one; what has become of the other delivery. */
async function lookUpBeside(change: (tx: postgres.TransactionSql, other: string) => Promise<unknown>) {
  const { doubt, lookUp, weekly } = fixture();
  const [one, other] = await doubt(["whatsapp"], [{ phone }, { phone }]);
  weekly.gateway.kept.pop();
  await weekly.db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await change(tx, other!.ids[0]!);
  });
  return await lookUp({ ids: [one!.ids[0]!], settleAs: "ana" });
}

const SHARED = [{ status: "not_unique", code: "evidence_shared", settled: false }] as const;

describe("look-up of a WhatsApp message whose number another delivery went to", () => {
  test("settles nothing while that one is being sent: the message may be its", async () => {
    const found = await lookUpBeside(
      (tx, other) => tx`
        update weekly_performance_deliveries set status = 'running', error_code = null, settled_at = null,
          lease_expires_at = public.weekly_performance_now() + interval '4 minutes' where id = ${other}`,
    );
    expect(found).toMatchObject(SHARED);
  });

  test("settles nothing where the text of that one is not known any more", async () => {
    const found = await lookUpBeside(
      (tx, other) => tx`
        update weekly_performance_reports set payload = null, evidence = null, pruned_at = now()
        where id = (select report_id from weekly_performance_deliveries where id = ${other})`,
    );
    expect(found).toMatchObject(SHARED);
  });

  test("settles it while that one is claimed and not sent yet", async () => {
    const found = await lookUpBeside(
      (tx, other) => tx`
        update weekly_performance_deliveries set status = 'running', error_code = null, settled_at = null,
          dispatched_at = null, lease_expires_at = public.weekly_performance_now() + interval '4 minutes'
        where id = ${other}`,
    );
    expect(found).toMatchObject([{ status: "found", settled: true }]);
  });

  test("settles it once that one is known not to have been sent", async () => {
    const found = await lookUpBeside(
      (tx, other) => tx`
        update weekly_performance_deliveries set status = 'failed', error_code = 'reconciled_not_sent' where id = ${other}`,
    );
    expect(found).toMatchObject([{ status: "found", settled: true }]);
  });
});
