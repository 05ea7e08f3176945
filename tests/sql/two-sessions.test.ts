/** Two sessions at one row, of which the second waits for the first and then judges what that has left. */
import { expect, test } from "bun:test";
import type postgres from "postgres";
import { type Claim, describeLedger, type Ledger, refusal } from "./support/ledger.ts";

/** What `first` does in a transaction that `second`, begun meanwhile in another session, waits for. */
async function waitsFor<T>(
  ledger: Ledger,
  first: (session: Ledger) => Promise<unknown>,
  second: () => Promise<T>,
): Promise<T> {
  let waiting: Promise<T> | undefined;
  await ledger.sql.begin(async (tx: postgres.TransactionSql) => {
    await first(ledger.on(tx));
    waiting = second();
    // What it is refused with is looked at below.
    waiting.catch(() => {});
    await ledger.untilWaiting();
  });
  return await waiting!;
}

describeLedger("a report that another session is at", (ledger) => {
  test("is completed once, and both sessions get what is stored", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    let first: unknown;
    const second = await waitsFor(
      ledger,
      async (session) => {
        first = await session.persist(owner, claim);
      },
      () => ledger.persist(owner, claim),
    );
    expect(second).toEqual(first);
  });

  test("a report that another session failed is not completed", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    const persist = () => ledger.persist(owner, claim);
    expect(
      await refusal(waitsFor(ledger, (session) => session.failReport(claim, "APP_TIMEOUT"), persist)),
    ).toBe("OW012 report_not_running");
    expect(await ledger.report(claim.id)).toMatchObject({ status: "failed", payload: null });
  });

  test("a report that another session took over is not completed with the token before", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    const token = crypto.randomUUID();
    const takeOver = (session: Ledger) =>
      session.sql`update weekly_performance_reports set claim_token = ${token} where id = ${claim.id}`;
    expect(await refusal(waitsFor(ledger, takeOver, () => ledger.persist(owner, claim)))).toBe(
      "OW004 report_token_mismatch",
    );
    expect(await ledger.report(claim.id)).toMatchObject({ status: "running", claim_token: token });
  });
});

describeLedger("a delivery that another session is at", (ledger) => {
  const claimed = async (channel = "email") =>
    await ledger.claimDelivery(await ledger.completedReport(), channel);
  const takeOver = (claim: Claim, token: string) => (session: Ledger) =>
    session.sql`update weekly_performance_deliveries set claim_token = ${token} where id = ${claim.id}`;

  test("is dispatched once: the second session of one token finds the same values, or is refused", async () => {
    const claim = await claimed();
    const dispatch = (session: Ledger) => session.dispatch(claim, "f***@example.com");
    await waitsFor(ledger, dispatch, () => ledger.dispatch(claim, "f***@example.com"));
    const other = await claimed();
    const refused = waitsFor(
      ledger,
      (session) => session.dispatch(other, "f***@example.com"),
      () => ledger.dispatch(other, "g***@example.com"),
    );
    expect(await refusal(refused)).toBe("OW027 delivery_already_dispatched");
    expect(await ledger.delivery(other.id)).toMatchObject({ masked_hint: "f***@example.com" });
  });

  test("a delivery that another session took over is neither dispatched nor settled with the token before", async () => {
    for (const channel of ["whatsapp", "email"]) {
      const claim = await claimed(channel);
      const token = crypto.randomUUID();
      const dispatch = () => ledger.dispatch(claim, channel === "email" ? "f***@example.com" : "4321");
      expect(await refusal(waitsFor(ledger, takeOver(claim, token), dispatch))).toBe(
        "OW022 delivery_token_mismatch",
      );
      await ledger.sql`update weekly_performance_deliveries set claim_token = ${claim.token} where id = ${claim.id}`;
      const settle = () => ledger.settle(claim, "failed", null, "APP_TIMEOUT");
      expect(await refusal(waitsFor(ledger, takeOver(claim, token), settle))).toBe(
        "OW022 delivery_token_mismatch",
      );
      expect(await ledger.delivery(claim.id)).toMatchObject({
        status: "running",
        claim_token: token,
        dispatched_at: null,
      });
    }
  });

  test("a delivery that another session settled keeps the first outcome", async () => {
    for (const channel of ["whatsapp", "email"]) {
      const claim = await ledger.dispatchedDelivery(channel);
      const settle = (session: Ledger) => session.settle(claim, "unknown", null, "provider_timeout");
      const late = () => ledger.settle(claim, "sent", `late-${channel}`);
      expect(await refusal(waitsFor(ledger, settle, late))).toBe("OW024 delivery_not_running");
      expect(await ledger.delivery(claim.id)).toMatchObject({
        status: "unknown",
        provider_message_id: null,
        error_code: "provider_timeout",
      });
    }
  });

  test("is settled once by two sessions with the same outcome", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    const settle = (session: Ledger) => session.settle(claim, "sent", "provider-id");
    expect(await waitsFor(ledger, settle, () => settle(ledger))).toEqual({ status: "sent", code: null });
  });
});
