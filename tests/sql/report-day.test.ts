import { expect, test } from "bun:test";
import { MONDAY } from "../support/seed.ts";
import { describeLedger, refusal } from "./support/ledger.ts";

/** The edges of the Monday: the first and the last microsecond of it, and their neighbours. */
const INSIDE = ["2026-11-23T03:00:00Z", "2026-11-24T02:59:59.999999Z"];
const OUTSIDE = ["2026-11-23T02:59:59.999999Z", "2026-11-24T03:00:00Z", "2026-11-25T12:00:00Z"];
const REFUSED = "OW001 weekly_performance_outside_report_day";

describeLedger("outside Monday in America/Sao_Paulo", (ledger) => {
  test("a report is not claimed", async () => {
    for (const instant of OUTSIDE) {
      const owner = await ledger.newOwner();
      await ledger.setClock(instant);
      expect(await refusal(ledger.claimReport(owner))).toBe(REFUSED);
    }
    for (const instant of INSIDE) {
      const owner = await ledger.newOwner();
      await ledger.setClock(instant);
      expect(await ledger.claimReport(owner)).toMatchObject({ outcome: "claimed" });
    }
  });

  test("a report is not persisted, even under a valid lease", async () => {
    const owner = await ledger.newOwner();
    await ledger.setClock("2026-11-24T02:55:00Z");
    const claim = await ledger.claimReport(owner);
    await ledger.setClock("2026-11-24T03:00:00Z");
    expect(await refusal(ledger.persist(owner, claim))).toBe(REFUSED);
    await ledger.setClock("2026-11-24T02:59:59.999999Z");
    await ledger.persist(owner, claim);
  });

  test("a report that was begun may still fail", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.setClock("2026-11-24T03:00:00Z");
    await ledger.failReport(claim, "outside_report_day");
    expect(await ledger.report(claim.id)).toMatchObject({ status: "failed" });
  });

  test("a delivery is not claimed", async () => {
    for (const instant of OUTSIDE) {
      const report = await ledger.completedReport();
      await ledger.setClock(instant);
      expect(await refusal(ledger.claimDelivery(report))).toBe(REFUSED);
      await ledger.setClock(MONDAY);
    }
  });

  test("a delivery is not dispatched, even under a valid lease", async () => {
    const report = await ledger.completedReport();
    await ledger.setClock("2026-11-24T02:58:00Z");
    const claim = await ledger.claimDelivery(report);
    await ledger.setClock("2026-11-24T03:00:00Z");
    expect(await refusal(ledger.dispatch(claim))).toBe(REFUSED);
    expect(await ledger.delivery(claim.id)).toMatchObject({ dispatched_at: null });
  });

  test("a delivery that was dispatched is still settled, with its timeline entry", async () => {
    for (const status of ["sent", "failed", "unknown"]) {
      const claim = await ledger.dispatchedDelivery();
      await ledger.setClock("2026-11-24T03:00:01Z");
      if (status === "sent") await ledger.settle(claim, status, "BAE5F00D");
      else await ledger.settle(claim, status, null, "provider_timeout");
      expect(await ledger.delivery(claim.id)).toMatchObject({ status });
      await ledger.setClock(MONDAY);
    }
  });

  test("the owners are still listed: a readiness check runs on any day", async () => {
    const { tenantId } = await ledger.newOwner();
    await ledger.setClock("2026-11-25T12:00:00Z");
    const rows = await ledger.sql`select * from list_weekly_performance_report_scopes(${tenantId})`;
    expect(rows.length).toBe(1);
  });
});
