import { expect, test } from "bun:test";
import { describeLedger, MONDAY, refusal, shifted, WEEK } from "./support/ledger.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeLedger("claim_weekly_performance_report()", (ledger) => {
  test("creates a running row with a token and a lease of twenty minutes", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    expect(claim.outcome).toBe("claimed");
    expect(claim.token).toMatch(UUID);
    expect(claim.leaseEnd).toEqual(new Date("2026-11-23T11:20:00Z"));
    const row = await ledger.report(claim.id);
    expect(row).toMatchObject({
      tenant_id: owner.tenantId,
      user_id: owner.userId,
      schema_version: 1,
      status: "running",
      claim_token: claim.token,
      attempts: 1,
    });
    // Apart: toMatchObject takes any date for any other.
    expect([row.window_start, row.window_end, row.lease_expires_at, row.created_at]).toEqual([
      new Date(WEEK.start),
      new Date(WEEK.end),
      claim.leaseEnd,
      new Date(MONDAY),
    ]);
  });

  test("leaves a running row with a valid lease alone and answers no token", async () => {
    const owner = await ledger.newOwner();
    const first = await ledger.claimReport(owner);
    const before = await ledger.report(first.id);
    await ledger.setClock(await shifted(ledger.sql, first.leaseEnd!, "-1 microsecond"));
    const second = await ledger.claimReport(owner);
    expect(second).toEqual({ id: first.id, outcome: "busy", token: null, leaseEnd: first.leaseEnd });
    expect(await ledger.report(first.id)).toEqual(before);
  });

  test("takes over at exactly the end of the lease, with a new token and a new lease", async () => {
    const owner = await ledger.newOwner();
    const first = await ledger.claimReport(owner);
    await ledger.setClock(await shifted(ledger.sql, first.leaseEnd!, "0 seconds"));
    const second = await ledger.claimReport(owner);
    expect(second).toMatchObject({ id: first.id, outcome: "taken_over" });
    expect(second.token).toMatch(UUID);
    expect(second.token).not.toBe(first.token);
    expect(second.leaseEnd).toEqual(new Date("2026-11-23T11:40:00Z"));
    expect(await ledger.report(first.id)).toMatchObject({
      status: "running",
      claim_token: second.token,
      attempts: 2,
    });
  });

  test("resumes a failed row", async () => {
    const owner = await ledger.newOwner();
    const first = await ledger.claimReport(owner);
    await ledger.failReport(first, "APP_HTTP_500");
    const second = await ledger.claimReport(owner);
    expect(second).toMatchObject({ id: first.id, outcome: "resumed" });
    expect(second.token).not.toBe(first.token);
    expect(await ledger.report(first.id)).toMatchObject({ status: "running", error_code: null, attempts: 2 });
  });

  test("answers a completed row for reuse and changes nothing", async () => {
    const owner = await ledger.newOwner();
    const id = await ledger.completedReport(owner);
    const before = await ledger.report(id);
    await ledger.moveClock("2 hours");
    expect(await ledger.claimReport(owner)).toEqual({
      id,
      outcome: "completed",
      token: null,
      leaseEnd: null,
    });
    expect(await ledger.report(id)).toEqual(before);
  });

  test("answers a completed row even of an owner who has become ineligible", async () => {
    const owner = await ledger.newOwner();
    const id = await ledger.completedReport(owner);
    await ledger.sql`update tenants set archived_at = now() where id = ${owner.tenantId}`;
    expect(await ledger.claimReport(owner)).toMatchObject({ id, outcome: "completed" });
  });

  test("refuses an ineligible owner without making a row", async () => {
    const owner = await ledger.newOwner({ wallet: "suspended" });
    expect(await ledger.claimReport(owner)).toEqual({
      id: null as unknown as string,
      outcome: "ineligible",
      token: null,
      leaseEnd: null,
    });
    const rows = await ledger.sql`
      select from weekly_performance_reports where tenant_id = ${owner.tenantId}`;
    expect(rows.length).toBe(0);
  });

  test("does not resume a failed row of an owner who has become ineligible", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    await ledger.failReport(claim, "APP_HTTP_500");
    await ledger.sql`update credit_wallets set status = 'closed' where tenant_id = ${owner.tenantId}`;
    expect(await ledger.claimReport(owner)).toMatchObject({ outcome: "ineligible", token: null });
    expect(await ledger.report(claim.id)).toMatchObject({ status: "failed", attempts: 1 });
  });

  test("refuses a user of another tenant and a user who is no owner", async () => {
    const owner = await ledger.newOwner();
    const other = await ledger.newOwner();
    const [member] = await ledger.sql`
      insert into users (tenant_id, role) values (${owner.tenantId}, 'admin') returning id`;
    for (const userId of [other.userId, member!.id])
      expect(await ledger.claimReport({ tenantId: owner.tenantId, userId })).toMatchObject({
        outcome: "ineligible",
      });
  });

  test("refuses a version of the report that the migrations do not know", async () => {
    const owner = await ledger.newOwner();
    for (const version of [0, 2])
      expect(await refusal(ledger.claimReport(owner, { version }))).toBe(
        "OW013 report_schema_version_unknown",
      );
  });

  test("refuses every window but the last closed one", async () => {
    const owner = await ledger.newOwner();
    const windows = [
      { start: "2026-11-09T03:00:00Z", end: WEEK.start },
      { start: WEEK.end, end: "2026-11-30T03:00:00Z" },
      { start: WEEK.start, end: "2026-11-23T03:00:00.000001Z" },
      { start: "2026-11-16T02:59:59.999999Z", end: WEEK.end },
      { start: "2026-11-16T00:00:00Z", end: "2026-11-23T00:00:00Z" },
      { start: null as unknown as string, end: WEEK.end },
    ];
    for (const week of windows)
      expect(await refusal(ledger.claimReport(owner, { week }))).toBe(
        "OW002 weekly_performance_window_not_last_closed",
      );
    // On the next Monday this week is an older one, even for its unfinished row.
    const claim = await ledger.claimReport(owner);
    await ledger.failReport(claim, "APP_HTTP_500");
    await ledger.moveClock("7 days");
    expect(await refusal(ledger.claimReport(owner))).toStartWith("OW002");
  });
});
