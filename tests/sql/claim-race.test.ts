import { expect, test } from "bun:test";
import type postgres from "postgres";
import { type Claim, describeLedger, type Ledger } from "./support/ledger.ts";

type TakeClaim = (sql?: postgres.ISql) => Promise<Claim>;

/** One session claims and keeps its transaction open; the second has to wait for it. */
async function holdAndRace(ledger: Ledger, take: TakeClaim): Promise<{ first: Claim; second: Claim }> {
  let second: Promise<Claim> | undefined;
  const first = (await ledger.sql.begin(async (tx) => {
    const claim = await take(tx);
    second = take();
    await ledger.untilWaiting();
    return claim;
  })) as Claim;
  return { first, second: await second! };
}

async function raceTwenty(take: TakeClaim): Promise<Claim[]> {
  return await Promise.all(Array.from({ length: 20 }, () => take()));
}

function expectOneWinner(claims: Claim[], outcome: string): void {
  const winners = claims.filter((claim) => claim.token !== null);
  expect(winners.map((claim) => claim.outcome)).toEqual([outcome]);
  expect(new Set(claims.map((claim) => claim.id)).size).toBe(1);
  expect(claims.filter((claim) => claim.outcome === "busy").length).toBe(claims.length - 1);
}

describeLedger("two sessions claim one report", (ledger) => {
  test("for which there is no row yet", async () => {
    const owner = await ledger.newOwner();
    const { first, second } = await holdAndRace(ledger, (sql) => ledger.claimReport(owner, sql && { sql }));
    expectOneWinner([first, second], "claimed");
  });

  test("whose lease has expired", async () => {
    const owner = await ledger.newOwner();
    await ledger.claimReport(owner);
    await ledger.moveClock("20 minutes");
    const { first, second } = await holdAndRace(ledger, (sql) => ledger.claimReport(owner, sql && { sql }));
    expectOneWinner([first, second], "taken_over");
  });

  test("which failed", async () => {
    const owner = await ledger.newOwner();
    await ledger.failReport(await ledger.claimReport(owner), "APP_TIMEOUT");
    const { first, second } = await holdAndRace(ledger, (sql) => ledger.claimReport(owner, sql && { sql }));
    expectOneWinner([first, second], "resumed");
  });

  test("and the second wins when the first rolls back", async () => {
    const owner = await ledger.newOwner();
    let second: Promise<Claim> | undefined;
    const rolledBack = ledger.sql.begin(async (tx) => {
      await ledger.claimReport(owner, { sql: tx });
      second = ledger.claimReport(owner);
      await ledger.untilWaiting();
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    expect(await second!).toMatchObject({ outcome: "claimed" });
  });

  test("and twenty sessions give one token", async () => {
    const owner = await ledger.newOwner();
    expectOneWinner(await raceTwenty(() => ledger.claimReport(owner)), "claimed");
    await ledger.moveClock("1 hour");
    expectOneWinner(await raceTwenty(() => ledger.claimReport(owner)), "taken_over");
  });

  test("while the first completes it, and the second reuses it", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    await ledger.moveClock("19 minutes");
    let second: Promise<Claim> | undefined;
    await ledger.sql.begin(async (tx) => {
      await tx`select from weekly_performance_reports where id = ${claim.id} for update`;
      second = ledger.claimReport(owner);
      await ledger.untilWaiting();
      await tx`
        update weekly_performance_reports
        set status = 'completed', payload = '{}', evidence = '', fingerprint = repeat('0', 64),
            coverage_status = 'partial', completed_at = now()
        where id = ${claim.id}`;
    });
    expect(await second!).toMatchObject({ id: claim.id, outcome: "completed", token: null });
  });
});

describeLedger("two sessions claim one delivery", (ledger) => {
  test("for which there is no row yet", async () => {
    const report = await ledger.completedReport();
    const { first, second } = await holdAndRace(ledger, (sql) => ledger.claimDelivery(report, "email", sql));
    expectOneWinner([first, second], "claimed");
  });

  test("whose lease has expired before dispatch", async () => {
    const report = await ledger.completedReport();
    await ledger.claimDelivery(report);
    await ledger.moveClock("5 minutes");
    const { first, second } = await holdAndRace(ledger, (sql) =>
      ledger.claimDelivery(report, "whatsapp", sql),
    );
    expectOneWinner([first, second], "taken_over");
  });

  test("which failed", async () => {
    const report = await ledger.completedReport();
    await ledger.settle(await ledger.claimDelivery(report), "failed", null, "recipient_phone_missing");
    const { first, second } = await holdAndRace(ledger, (sql) =>
      ledger.claimDelivery(report, "whatsapp", sql),
    );
    expectOneWinner([first, second], "resumed");
  });

  test("while the holder dispatches late, and it becomes unknown instead of being sent twice", async () => {
    const report = await ledger.completedReport();
    const claim = await ledger.claimDelivery(report);
    let second: Promise<Claim> | undefined;
    await ledger.sql.begin(async (tx) => {
      await tx`
        select public.dispatch_weekly_performance_delivery(
          ${claim.id}, ${claim.token}, ${crypto.randomUUID()}, '4321')`;
      await ledger.moveClock("5 minutes");
      second = ledger.claimDelivery(report);
      await ledger.untilWaiting();
    });
    expect(await second!).toMatchObject({ outcome: "unknown", token: null });
  });

  test("and twenty sessions give one token", async () => {
    const report = await ledger.completedReport();
    expectOneWinner(await raceTwenty(() => ledger.claimDelivery(report)), "claimed");
    await ledger.moveClock("5 minutes");
    expectOneWinner(await raceTwenty(() => ledger.claimDelivery(report)), "taken_over");
  });
});
