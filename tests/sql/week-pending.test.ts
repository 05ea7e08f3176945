import { expect, test } from "bun:test";
import { readWeekState } from "../../lib/ledger/week-state.ts";
import { describeLedger, WEEK } from "./support/ledger.ts";

describeLedger("weekly_performance_week() of a delivery that was left pending", (ledger) => {
  test("counts it as failed: nothing was sent, and another run may send it", async () => {
    await ledger.empty();
    const owner = await ledger.newOwner();
    const report = await ledger.completedReport(owner);
    await ledger.sql`
      insert into weekly_performance_deliveries (report_id, tenant_id, user_id, channel, status)
      values (${report}, ${owner.tenantId}, ${owner.userId}, 'whatsapp', 'pending')`;
    const { whatsapp } = await readWeekState(ledger.sql, WEEK);
    expect(whatsapp).toEqual({ sent: 0, partial: 0, failed: 1, unknown: 0, running: 0, missing: 0 });
  });
});
