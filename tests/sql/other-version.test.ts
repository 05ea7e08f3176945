import { expect, test } from "bun:test";
import { WEEK } from "../support/seed.ts";
import { type Claim, describeLedger, type Ledger, type Owner } from "./support/ledger.ts";

/** A report that another version of opsctl made: this database's functions know version 1 alone. */
async function reportOfVersion2(ledger: Ledger, owner: Owner, status: "completed" | "running" = "completed") {
  const isCompleted = status === "completed";
  const [row] = await ledger.sql`
    insert into weekly_performance_reports
      (tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at,
       fingerprint, evidence, payload, coverage_status, completed_at)
    select ${owner.tenantId}, ${owner.userId}, ${WEEK.start}::text::timestamptz, ${WEEK.end}::text::timestamptz, 2,
           ${status}, gen_random_uuid(), public.weekly_performance_now() + interval '20 minutes',
           ${isCompleted ? "0".repeat(64) : null}, ${isCompleted ? "" : null},
           ${isCompleted ? "{}" : null}::text::jsonb, ${isCompleted ? "partial" : null},
           case when ${isCompleted} then public.weekly_performance_now() end
    returning id`;
  return row!.id as string;
}

/** Brings a claimed delivery into one of the ledger's states. */
async function bring(ledger: Ledger, claim: Claim, state: string): Promise<void> {
  if (state === "failed") return void (await ledger.settle(claim, "failed", null, "recipient_phone_missing"));
  if (state === "running") return;
  await ledger.dispatch(claim);
  if (state === "dispatched") return;
  await ledger.settle(claim, state, state === "sent" ? "id" : null, state === "sent" ? null : "timeout");
}

describeLedger("an upgrade between two runs", (ledger) => {
  for (const state of ["running", "dispatched", "sent", "unknown"]) {
    test(`reuses a report of another version whose delivery is ${state}`, async () => {
      const owner = await ledger.newOwner();
      const other = await reportOfVersion2(ledger, owner);
      await bring(ledger, await ledger.claimDelivery(other), state);
      expect(await ledger.claimReport(owner)).toMatchObject({ id: other, outcome: "completed", token: null });
      const own = await ledger.sql`
        select from weekly_performance_reports where user_id = ${owner.userId} and schema_version = 1`;
      expect(own.length).toBe(0);
    });
  }

  for (const state of ["none", "failed"]) {
    test(`makes a report of its own where the other version's delivery is ${state}`, async () => {
      const owner = await ledger.newOwner();
      const other = await reportOfVersion2(ledger, owner);
      if (state === "failed") await bring(ledger, await ledger.claimDelivery(other), "failed");
      const claim = await ledger.claimReport(owner);
      expect(claim).toMatchObject({ outcome: "claimed" });
      expect(claim.id).not.toBe(other);
    });
  }

  const answers = {
    running: "busy",
    dispatched: "busy",
    sent: "sent",
    unknown: "unknown",
    failed: "claimed",
  };
  for (const [state, outcome] of Object.entries(answers)) {
    test(`never sends beside the other version's delivery that is ${state}`, async () => {
      const owner = await ledger.newOwner();
      const own = await ledger.completedReport(owner);
      const other = await reportOfVersion2(ledger, owner);
      const theirs = await ledger.claimDelivery(other, "email");
      if (state !== "running") await ledger.settle(theirs, "failed", null, "x");
      const whatsapp = await ledger.claimDelivery(other);
      await bring(ledger, whatsapp, state);
      const claim = await ledger.claimDelivery(own);
      expect(claim.outcome).toBe(outcome);
      expect(claim.token === null).toBe(state !== "failed");
    });
  }

  test("gives one message when both versions claim at once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const owner = await ledger.newOwner();
      const reports = [await ledger.completedReport(owner), await reportOfVersion2(ledger, owner)];
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, i) => ledger.claimDelivery(reports[i % 2]!, "whatsapp")),
      );
      expect(claims.filter(({ token }) => token !== null).length).toBe(1);
    }
  });

  test("waits for the other version's claim that is not committed", async () => {
    const owner = await ledger.newOwner();
    const reports = [await ledger.completedReport(owner), await reportOfVersion2(ledger, owner)];
    let second: Promise<Claim> | undefined;
    await ledger.sql.begin(async (tx) => {
      await ledger.claimDelivery(reports[1]!, "email", tx);
      second = ledger.claimDelivery(reports[0]!, "email");
      await ledger.untilWaiting();
    });
    expect(await second!).toMatchObject({ outcome: "busy", token: null });
  });
});
