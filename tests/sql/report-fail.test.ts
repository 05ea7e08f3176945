import { expect, test } from "bun:test";
import { describeLedger, refusal } from "./support/ledger.ts";

describeLedger("fail_weekly_performance_report()", (ledger) => {
  test("turns a running row into a failed one with its code", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.failReport(claim, "report_persist_failed");
    expect(await ledger.report(claim.id)).toMatchObject({
      status: "failed",
      error_code: "report_persist_failed",
      payload: null,
    });
  });

  test("repeated with the same code succeeds without a write, with another is refused", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.failReport(claim, "APP_HTTP_401");
    const before = await ledger.report(claim.id);
    await ledger.moveClock("1 minute");
    await ledger.failReport(claim, "APP_HTTP_401");
    expect(await ledger.report(claim.id)).toEqual(before);
    expect(await refusal(ledger.failReport(claim, "APP_HTTP_409"))).toBe("OW012 report_not_running");
  });

  test("cannot fail the row of whoever took over", async () => {
    const owner = await ledger.newOwner();
    const first = await ledger.claimReport(owner);
    await ledger.moveClock("20 minutes");
    const second = await ledger.claimReport(owner);
    expect(await refusal(ledger.failReport(first, "APP_TIMEOUT"))).toBe("OW004 report_token_mismatch");
    expect(await ledger.report(first.id)).toMatchObject({ status: "running", claim_token: second.token });
  });

  test("after the lease still counts for the holder of the token", async () => {
    const claim = await ledger.claimReport(await ledger.newOwner());
    await ledger.moveClock("2 hours");
    await ledger.failReport(claim, "APP_TIMEOUT");
    expect(await ledger.report(claim.id)).toMatchObject({ status: "failed" });
  });

  test("refuses a completed row, a missing row, and a code that is a message", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    expect(await refusal(ledger.failReport(claim, "mail to fulano@example.com"))).toBe(
      "23514 weekly_performance_reports_error_code",
    );
    await ledger.persist(owner, claim);
    expect(await refusal(ledger.failReport(claim, "APP_TIMEOUT"))).toBe("OW012 report_not_running");
    expect(await refusal(ledger.failReport({ ...claim, id: crypto.randomUUID() }, "APP_TIMEOUT"))).toBe(
      "OW003 report_not_found",
    );
  });
});
