import { expect, test } from "bun:test";
import type postgres from "postgres";
import { connect, sharedPostgres } from "../support/postgres.ts";
import { newLogin } from "../support/roles.ts";
import { MONDAY } from "../support/seed.ts";
import { describeLedger, type Ledger, refusal } from "./support/ledger.ts";

const PRIVATE = [
  "Sent to fulano@example.com by hand",
  "fulano.silva+x@sub.example.com",
  "5511987654321@s.whatsapp.net answered",
  "+55 (11) 98765-4321 has it",
  "11 98765-4321",
  "(11)987654321",
  "98765-4321",
  "5511987654321",
  "number 011.98765.4321",
  "+1 415 555 2671",
  "+44 20 7946 0958",
  "On 2026-11-23 the owner of 11987654321 confirmed",
];

const HARMLESS = [
  "Looked up 49a3999c-0ce1-4ea6-ab68-123456789012 at the provider",
  "id 12345678-1234-4234-8234-123456789012",
  "Gateway id BAE5123456789012F4, status READ",
  "Key 3EB0123456789012345678 not in the chat on 2026-11-23 11:05:07.123",
  "Looked on 23/11/2026 at 11:05 and 24/11 at 09:00",
  "f***@example.com confirmed by chat",
  "Hint 4321, ticket 12345678",
  "Three of 30 answers, 429 then 500",
];

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
    // Unknown a second time: the earlier record permits nothing any more.
    await ledger.dispatch(again, "f***@example.com");
    await ledger.settle(again, "unknown", null, "provider_timeout");
    expect(
      await refusal(ledger.sql`
        update weekly_performance_deliveries set status = 'failed' where id = ${claim.id}`),
    ).toBe("OW026 delivery_unknown_is_terminal");
    await ledger.reconcile(claim.id, "sent", "second-id");
    expect((await recordsOf(claim.id)).map((row) => row.status)).toEqual(["failed", "sent"]);
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

  test("two operators at once: the first decides, the second waits and is refused", async () => {
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

  test("takes no reason with an address or a telephone number", async () => {
    const claim = await ledger.unknownDelivery("email");
    for (const reason of PRIVATE)
      expect([reason, await refusal(ledger.reconcile(claim.id, "failed", null, reason))]).toEqual([
        reason,
        "23514 weekly_performance_reconciliations_privacy",
      ]);
  });

  test("takes a reason with ids, dates, masks and short numbers", async () => {
    for (const reason of HARMLESS) {
      const claim = await ledger.unknownDelivery("email");
      await ledger.reconcile(claim.id, "failed", null, reason);
    }
  });

  test("a reconciliation to a message that another session records waits, and takes it only when that session rolls back", async () => {
    expect(await race(ledger, { commits: true })).toEqual({
      second: "unknown",
      refused: "OW034 provider_message_of_another_delivery",
    });
    expect(await race(ledger, { commits: false })).toEqual({ second: "sent", refused: null });
  });
});

/** What a killed run leaves is what it means, also when no run follows. */
describeLedger("a lease that has expired", (ledger) => {
  test("a lease that expired after dispatch can be reconciled on any day, as an unknown result", async () => {
    const claim = await ledger.dispatchedDelivery();
    await ledger.moveClock("4 minutes 59.999999 seconds");
    expect(await refusal(ledger.reconcile(claim.id, "sent", "id"))).toBe("OW030 delivery_not_unknown");
    await ledger.moveClock("2 days");
    expect(await ledger.reconcile(claim.id, "sent", "BAE5F00D")).toEqual({ status: "sent", code: null });
    expect(await ledger.delivery(claim.id)).toMatchObject({
      status: "sent",
      provider_message_id: "BAE5F00D",
    });
    const entries = await ledger.sql`
      select from timeline_entries where metadata ->> 'deliveryId' = ${claim.id}`;
    expect(entries.length).toBe(1);
  });

  test("a lease that expired after dispatch can be reconciled to failed, and a late settle of the holder is refused then", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    await ledger.moveClock("5 minutes");
    expect(await ledger.reconcile(claim.id, "failed", null)).toEqual({
      status: "failed",
      code: "reconciled_not_sent",
    });
    expect(await refusal(ledger.settle(claim, "sent", "id"))).toBe("OW024 delivery_not_running");
  });

  test("a lease that expired before the dispatch is no unknown result: there is nothing to reconcile", async () => {
    const claim = await ledger.claimDelivery(await ledger.completedReport());
    await ledger.moveClock("1 day");
    expect(await refusal(ledger.reconcile(claim.id, "failed", null))).toBe("OW030 delivery_not_unknown");
  });

  test("leaves nothing changed when the reconciliation is refused", async () => {
    const claim = await ledger.dispatchedDelivery();
    await ledger.moveClock("1 day");
    const before = await ledger.delivery(claim.id);
    expect(await refusal(ledger.reconcile(claim.id, "failed", null, "call 11 98765-4321"))).toContain(
      "privacy",
    );
    expect(await ledger.delivery(claim.id)).toEqual(before);
  });

  test("means failed before dispatch and unknown after it, at the very instant", async () => {
    const [row] = await ledger.sql`
      with at as (select public.weekly_performance_now() as now)
      select
        public.weekly_performance_report_state('running', now + interval '1 microsecond', now) as held,
        public.weekly_performance_report_state('running', now, now) as expired,
        public.weekly_performance_report_state('completed', now, now) as completed,
        public.weekly_performance_delivery_state('running', null, now + interval '1 microsecond', now) as claimed,
        public.weekly_performance_delivery_state('running', null, now, now) as undispatched,
        public.weekly_performance_delivery_state('running', now, now, now) as dispatched,
        public.weekly_performance_delivery_state('sent', now, now, now) as sent,
        public.weekly_performance_delivery_state('pending', null, null, now) as pending
      from at`;
    expect(row).toEqual({
      held: "running",
      expired: "failed",
      completed: "completed",
      claimed: "running",
      undispatched: "failed",
      dispatched: "unknown",
      sent: "sent",
      pending: "pending",
    });
  });
});
