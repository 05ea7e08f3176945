import { expect, test } from "bun:test";
import { persistAndClaimWhatsapp } from "../../lib/weekly/database/persist-and-claim.ts";
import { type Claim, describeLedger, type Owner, SENDER, validPersist, WEEK } from "./support/ledger.ts";

describeLedger("a report that is stored and whose message is claimed in one statement", (ledger) => {
  function ask(owner: Owner, claim: Claim, claimToken: string, token = claim.token!) {
    const { payload, evidence, fingerprint } = validPersist(owner, claim);
    const content = { schemaVersion: 1, payload, evidence: evidence!, fingerprint: fingerprint! };
    const report = { id: claim.id, token, scope: owner, window: WEEK };
    return persistAndClaimWhatsapp(ledger.sql, report, content, SENDER, claimToken);
  }

  test("is complete, and its message claimed; asked again with the same tokens, it is the same", async () => {
    const owner = await ledger.newOwner();
    await ledger.sql`update users set phone = '5511987654321' where id = ${owner.userId}`;
    const report = await ledger.claimReport(owner);
    const claimToken = crypto.randomUUID();
    const first = await ask(owner, report, claimToken);
    expect(first).toMatchObject({
      payload: { tenantId: owner.tenantId },
      claim: { outcome: "claimed", token: claimToken, recipient: "5511987654321" },
    });
    expect(await ask(owner, report, claimToken)).toEqual(first);
    expect(await ledger.report(report.id)).toMatchObject({ status: "completed", attempts: 1 });
    expect(await ledger.delivery(first.claim.deliveryId)).toMatchObject({ status: "running", attempts: 1 });
  });

  test("is as it was when the report is refused: no message is claimed", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.claimReport(owner);
    await expect(ask(owner, report, crypto.randomUUID(), crypto.randomUUID())).rejects.toMatchObject({
      code: "OW004",
    });
    expect(await ledger.report(report.id)).toMatchObject({ status: "running" });
    expect(
      await ledger.sql`select from weekly_performance_deliveries where report_id = ${report.id}`,
    ).toHaveLength(0);
  });

  test("is as it was when the claim is refused: the report is not stored", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.claimReport(owner);
    await ledger.sql`alter table weekly_performance_deliveries add constraint broken check (false) not valid`;
    try {
      await expect(ask(owner, report, crypto.randomUUID())).rejects.toMatchObject({ code: "23514" });
    } finally {
      await ledger.sql`alter table weekly_performance_deliveries drop constraint broken`;
    }
    expect(await ledger.report(report.id)).toMatchObject({ status: "running", payload: null });
  });

  test("claims nothing when another version of the report has sent the message", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.claimReport(owner);
    await ledger.sql`
      with other as (
        insert into weekly_performance_reports
          (tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
           coverage_status, completed_at)
        values (${owner.tenantId}, ${owner.userId}, ${WEEK.start}::text::timestamptz, ${WEEK.end}::text::timestamptz, 2,
                'completed', repeat('0', 64), '', '{}', 'partial', now())
        returning id, tenant_id, user_id
      )
      insert into weekly_performance_deliveries
        (report_id, tenant_id, user_id, channel, status, attempts, claim_token, lease_expires_at, sender_tenant_id,
         masked_hint, provider_message_id, dispatched_at, settled_at)
      select id, tenant_id, user_id, 'whatsapp', 'sent', 1, gen_random_uuid(), now(), ${SENDER}, '4321', '3EB0', now(), now()
      from other`;
    const { claim } = await ask(owner, report, crypto.randomUUID());
    expect(claim).toMatchObject({ outcome: "sent" });
    expect(claim).not.toHaveProperty("token");
    expect(await ledger.report(report.id)).toMatchObject({ status: "completed" });
  });
});
