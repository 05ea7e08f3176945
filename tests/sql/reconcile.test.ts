import { expect, test } from "bun:test";
import { connect, sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { describeLedger, MONDAY, refusal } from "./support/ledger.ts";

describeLedger("reconcile_weekly_performance_delivery()", (ledger) => {
  async function recordsOf(deliveryId: string) {
    return Array.from(
      await ledger.sql`
        select status, provider_message_id, reason, actor, created_at
        from weekly_performance_reconciliations where delivery_id = ${deliveryId} order by created_at`,
    );
  }

  test("takes unknown to sent under the provider's id, on record", async () => {
    const claim = await ledger.unknownDelivery("email");
    expect(await ledger.reconcile(claim.id, "sent", "provider-id", "Found at the provider", "ana")).toEqual({
      status: "sent",
      code: null,
    });
    expect(await ledger.delivery(claim.id)).toMatchObject({
      status: "sent",
      provider_message_id: "provider-id",
    });
    expect(await recordsOf(claim.id)).toEqual([
      {
        status: "sent",
        provider_message_id: "provider-id",
        reason: "Found at the provider",
        actor: "ana",
        created_at: new Date(MONDAY),
      },
    ]);
  });

  test("takes unknown to failed, which the same Monday may claim again", async () => {
    const claim = await ledger.unknownDelivery("email");
    expect(await ledger.reconcile(claim.id, "failed", null)).toEqual({
      status: "failed",
      code: "reconciled_not_sent",
    });
    const { report_id: report } = await ledger.delivery(claim.id);
    const again = await ledger.claimDelivery(report, "email");
    expect(again).toMatchObject({ id: claim.id, outcome: "resumed" });
    // In doubt a second time: the earlier record permits nothing any more.
    await ledger.dispatch(again, "f***@example.com");
    await ledger.settle(again, "unknown", null, "provider_timeout");
    expect(
      await refusal(ledger.sql`
        update weekly_performance_deliveries set status = 'failed' where id = ${claim.id}`),
    ).toBe("OW026 delivery_unknown_is_terminal");
    await ledger.reconcile(claim.id, "sent", "second-id");
    expect((await recordsOf(claim.id)).map((row) => row.status)).toEqual(["failed", "sent"]);
  });

  test("gives a message to one delivery of a channel only, also when two sessions come at once", async () => {
    const [one, other] = [await ledger.unknownDelivery("email"), await ledger.unknownDelivery("email")];
    const both = await Promise.allSettled([
      ledger.reconcile(one.id, "sent", "the-only-message"),
      ledger.reconcile(other.id, "sent", "the-only-message"),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const open = both[0]!.status === "rejected" ? one : other;
    expect(await refusal(ledger.reconcile(open.id, "sent", "the-only-message"))).toBe(
      "OW034 provider_message_of_another_delivery",
    );
    expect((await ledger.delivery(open.id)).status).toBe("unknown");
    expect(await ledger.reconcile(open.id, "sent", "its-own-message")).toMatchObject({ status: "sent" });
  });

  test("works on any day and for any week", async () => {
    for (const offset of ["1 day", "6 days", "30 days"]) {
      const claim = await ledger.unknownDelivery("email");
      await ledger.moveClock(offset);
      await ledger.reconcile(claim.id, "sent", `provider-id-${claim.id}`);
      expect(await ledger.delivery(claim.id)).toMatchObject({ status: "sent" });
      await ledger.setClock(MONDAY);
    }
  });

  test("refuses every delivery that is not unknown", async () => {
    const running = await ledger.dispatchedDelivery("email");
    const sent = await ledger.dispatchedDelivery("email");
    await ledger.settle(sent, "sent", "provider-id");
    const failed = await ledger.dispatchedDelivery("email");
    await ledger.settle(failed, "failed", null, "provider_422");
    for (const claim of [running, sent, failed]) {
      const before = await ledger.delivery(claim.id);
      expect(await refusal(ledger.reconcile(claim.id, "sent", "id"))).toBe("OW030 delivery_not_unknown");
      expect(await ledger.delivery(claim.id)).toEqual(before);
      expect(await recordsOf(claim.id)).toEqual([]);
    }
    expect(await refusal(ledger.reconcile(crypto.randomUUID(), "failed", null))).toBe(
      "OW021 delivery_not_found",
    );
  });

  test("refuses a result that is not whole, or without a reason or an actor", async () => {
    const claim = await ledger.unknownDelivery("email");
    const before = await ledger.delivery(claim.id);
    const table = "weekly_performance_reconciliations";
    const refused = [
      [["sent", null], `23514 ${table}_provider_id`],
      [["sent", ""], `23514 ${table}_provider_id`],
      [["failed", "provider-id"], `23514 ${table}_provider_id`],
      [["unknown", null], `23514 ${table}_status`],
      [["running", null], `23514 ${table}_status`],
      [["failed", null, " \n"], `23514 ${table}_reason`],
      [["failed", null, "x".repeat(1001)], `23514 ${table}_reason`],
      [["failed", null, "Reason", " "], `23514 ${table}_actor`],
    ] as const;
    for (const [[status, id, reason, actor], expected] of refused)
      expect(await refusal(ledger.reconcile(claim.id, status, id, reason, actor))).toBe(expected);
    expect(await refusal(ledger.reconcile(claim.id, "failed", null, null))).toStartWith("23502");
    expect(await refusal(ledger.reconcile(claim.id, null, null))).toStartWith("23502");
    expect(await ledger.delivery(claim.id)).toEqual(before);
    expect(await recordsOf(claim.id)).toEqual([]);
  });

  test("records the session's login beside the actor, whatever role the session takes and whatever is typed", async () => {
    const login = await newLogin(ledger.sql, "grant service_role to");
    const claim = await ledger.unknownDelivery("email");
    const url = (await sharedPostgres(ledger.major)).url(ledger.database.name, login);
    const sql = connect(url);
    try {
      await sql`set role service_role`;
      const caller = ledger.on(sql);
      await caller.reconcile(claim.id, "failed", null, "Not in the log", "postgres");
      const [row] = await sql`
        select actor, session_user_name from public.weekly_performance_reconciliations
        where delivery_id = ${claim.id}`;
      expect(row).toEqual({ actor: "postgres", session_user_name: login });
      expect(
        await refusal(sql`
          insert into public.weekly_performance_reconciliations (delivery_id, status, reason, actor, session_user_name)
          values (${claim.id}, 'failed', 'r', 'a', 'postgres')`),
      ).toMatch(/^42501 permission denied/);
    } finally {
      await sql.end();
    }
  });

  test("keeps its records for ever, even from the owner", async () => {
    const claim = await ledger.unknownDelivery("email");
    await ledger.reconcile(claim.id, "failed", null);
    for (const attempt of [
      "update weekly_performance_reconciliations set reason = 'another'",
      "delete from weekly_performance_reconciliations",
      "truncate weekly_performance_reconciliations",
    ])
      expect(await refusal(ledger.sql.unsafe(attempt))).toBe("OW031 reconciliations_are_append_only");
  });

  test("two operators at once: the first decides, the second waits and is told", async () => {
    const claim = await ledger.unknownDelivery("email");
    let second: Promise<string> | undefined;
    await ledger.sql.begin(async (tx) => {
      await tx`
        select public.reconcile_weekly_performance_delivery(${claim.id}, 'failed', null, 'Not found', 'ana')`;
      second = refusal(ledger.reconcile(claim.id, "sent", "provider-id", "Found", "rui"));
      await ledger.untilWaiting();
    });
    expect(await second!).toBe("OW030 delivery_not_unknown");
    expect((await recordsOf(claim.id)).map((row) => row.actor)).toEqual(["ana"]);
    expect(await ledger.delivery(claim.id)).toMatchObject({ status: "failed" });
  });
});
