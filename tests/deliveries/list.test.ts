import { expect, test } from "bun:test";
import { listDeliveries } from "../../lib/deliveries/list.ts";
import { renderDeliveryList } from "../../lib/deliveries/render.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { SENDER } from "../sql/support/ledger.ts";
import { terminal } from "../text/support/terminal.ts";
import { describeDeliveries, failedDelivery } from "./support/deliveries.ts";

describeDeliveries("listDeliveries()", (ledger) => {
  test("shows ids, states, codes, masks and times", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.completedReport(owner);
    const claim = await ledger.claimDelivery(report, "email");
    await ledger.dispatch(claim, "f***@example.com");
    await ledger.moveClock("1 minute");
    await ledger.settle(claim, "sent", "provider-id");
    const list = await listDeliveries(ledger.sql, { tenantId: owner.tenantId }, 100);
    expect(list).toEqual({
      deliveries: [
        {
          id: claim.id,
          week: "2026-11-16",
          tenantId: owner.tenantId,
          userId: owner.userId,
          reportId: report,
          channel: "email",
          state: "sent",
          code: null,
          attempts: 1,
          maskedHint: "f***@example.com",
          senderTenantId: SENDER,
          providerMessageId: "provider-id",
          leaseExpiresAt: null,
          dispatchedAt: "2026-11-23T11:00:00Z",
          settledAt: "2026-11-23T11:01:00Z",
          retryableUntil: null,
        },
      ],
      more: false,
      next: null,
    });
  });

  test("says until when a failed delivery may be tried again: Monday's end, and on no other day", async () => {
    const { tenantId } = await failedDelivery(ledger);
    const retryableAt = async (now: string) => {
      await ledger.setClock(now);
      const list = await listDeliveries(ledger.sql, { tenantId }, 1);
      return [list.deliveries[0]!.retryableUntil, renderDeliveryList(list, NO_TERMINAL).includes("closed")];
    };
    const end = "2026-11-24T03:00:00Z";
    expect(await retryableAt("2026-11-23T11:00:00Z")).toEqual([end, false]);
    expect(await retryableAt("2026-11-24T02:59:59.999999Z")).toEqual([end, false]);
    expect(await retryableAt("2026-11-24T03:00:00Z")).toEqual([null, true]);
    // A Monday again, but another week's.
    expect(await retryableAt("2026-11-30T11:00:00Z")).toEqual([null, true]);
  });

  test("takes the end of that Monday from the zone as it was then", async () => {
    // In the summer time of 2018 midnight was at two in UTC.
    const now = "2018-11-12T11:00:00Z";
    await ledger.setClock(now);
    const owner = await ledger.newOwner();
    const week = { start: "2018-11-05T02:00:00Z", end: "2018-11-12T02:00:00Z" };
    const report = await ledger.claimReport(owner, { week });
    await ledger.sql`
      update weekly_performance_reports
      set status = 'completed', payload = '{}', evidence = '', fingerprint = repeat('0', 64),
          coverage_status = 'partial', completed_at = now()
      where id = ${report.id}`;
    const claim = await ledger.claimDelivery(report.id);
    await ledger.settle(claim, "failed", null, "recipient_phone_missing");
    const { deliveries } = await listDeliveries(ledger.sql, { tenantId: owner.tenantId }, 1);
    expect(deliveries[0]).toMatchObject({ week: "2018-11-05", retryableUntil: "2018-11-13T02:00:00Z" });
  });

  test("restricts by state, week and tenant, and by all of them", async () => {
    const failed = await failedDelivery(ledger);
    const unknown = await ledger.unknownDelivery("email");
    const { tenant_id: tenantId } = await ledger.delivery(unknown.id);
    const ids = async (filter: Parameters<typeof listDeliveries>[1]) =>
      (await listDeliveries(ledger.sql, filter, 1000)).deliveries.map((delivery) => delivery.id);
    expect(await ids({ state: "unknown" })).toContain(unknown.id);
    expect(await ids({ state: "unknown" })).not.toContain(failed.id);
    expect(await ids({ tenantId })).toEqual([unknown.id]);
    expect(await ids({ tenantId, state: "failed" })).toEqual([]);
    expect(await ids({ tenantId, week: "2026-11-16", state: "unknown" })).toEqual([unknown.id]);
    expect(await ids({ tenantId, week: "2026-11-09" })).toEqual([]);
    expect(await ids({ week: "2018-11-05" })).toHaveLength(1);
  });

  test("finds deliveries by what they are once their lease has expired, whatever their rows say", async () => {
    const dispatched = await ledger.dispatchedDelivery("email");
    const claimed = await ledger.claimDelivery(await ledger.completedReport());
    const idsIn = async (state: "running" | "unknown" | "failed") =>
      (await listDeliveries(ledger.sql, { state }, 1000)).deliveries.map((delivery) => delivery.id);
    expect(await idsIn("running")).toEqual(expect.arrayContaining([dispatched.id, claimed.id]));
    await ledger.moveClock("5 minutes");
    expect(await idsIn("running")).toEqual([]);
    expect(await idsIn("unknown")).toContain(dispatched.id);
    expect(await idsIn("failed")).toContain(claimed.id);
    expect(await idsIn("unknown")).not.toContain(claimed.id);
  });

  test("goes through all of them in one order, whatever the limit", async () => {
    for (let i = 0; i < 3; i++) {
      const report = await ledger.completedReport();
      for (const channel of ["whatsapp", "email"]) await ledger.claimDelivery(report, channel);
    }
    const all = await listDeliveries(ledger.sql, {}, 1000);
    expect(all.more).toBe(false);
    const order = all.deliveries.map((delivery) => delivery.id);
    expect(order.length).toBeGreaterThan(8);
    expect(all.deliveries.map((delivery) => delivery.week)).toEqual(
      all.deliveries
        .map((delivery) => delivery.week)
        .toSorted()
        .toReversed(),
    );
    for (const limit of [1, 2, order.length - 1, order.length]) {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const { deliveries, more, next } = await listDeliveries(ledger.sql, { after }, limit);
        expect(deliveries.length).toBeLessThanOrEqual(limit);
        expect(more).toBe(next !== null);
        seen.push(...deliveries.map((delivery) => delivery.id));
        after = next ?? undefined;
      } while (after !== undefined);
      expect(seen).toEqual(order);
    }
  });

  test("reads more rows than fit one page", async () => {
    const owner = await ledger.newOwner();
    await ledger.sql`
      with reports as (
        insert into weekly_performance_reports
          (tenant_id, user_id, window_start, window_end, schema_version, status)
        select ${owner.tenantId}, ${owner.userId}, '2026-11-16T03:00Z', '2026-11-23T03:00Z', version, 'failed'
        from generate_series(1, 2500) as version returning id, tenant_id, user_id
      )
      insert into weekly_performance_deliveries (report_id, tenant_id, user_id, channel, status)
      select id, tenant_id, user_id, 'email', 'pending' from reports`;
    const filter = { tenantId: owner.tenantId };
    const all = await listDeliveries(ledger.sql, filter, 5000);
    expect(new Set(all.deliveries.map((delivery) => delivery.id)).size).toBe(2500);
    expect(all.more).toBe(false);
    const some = await listDeliveries(ledger.sql, filter, 1500);
    expect([some.deliveries.length, some.more]).toEqual([1500, true]);
    expect((await listDeliveries(ledger.sql, { ...filter, after: some.next! }, 5000)).deliveries).toEqual(
      all.deliveries.slice(1500),
    );
  });

  test("refuses to go on behind a delivery that is not there", async () => {
    const after = crypto.randomUUID();
    await expect(listDeliveries(ledger.sql, { after }, 10)).rejects.toMatchObject({
      code: "DELIVERY_NOT_FOUND",
    });
  });

  test("fits a narrow terminal with a block for each delivery, its ids whole", async () => {
    const { id, tenantId } = await failedDelivery(ledger);
    const text = renderDeliveryList(await listDeliveries(ledger.sql, { tenantId }, 1), terminal(80));
    expect(text).toBe(
      [
        `id: ${id}  state: failed  channel: whatsapp`,
        "    code: recipient_phone_missing  week: 2026-11-16",
        "    retry until (São Paulo): 2026-11-24 00:00:00",
        `    tenant: ${tenantId}`,
        "",
      ].join("\n"),
    );
  });

  test("says so when there is nothing, and when there is more", async () => {
    const none = await listDeliveries(ledger.sql, { tenantId: crypto.randomUUID() }, 10);
    expect(renderDeliveryList(none, NO_TERMINAL)).toBe("No deliveries match.\n");
    const first = await listDeliveries(ledger.sql, {}, 1);
    expect(renderDeliveryList(first, NO_TERMINAL)).toEndWith(
      `There are more: raise --limit, narrow the list, or go on with --after ${first.next}\n`,
    );
  });
});
