import { expect, test } from "bun:test";
import { describeLedger } from "./support/ledger.ts";

/** The first answer of a claim was lost, and the claim is asked again with its token. */
describeLedger("a claim that is asked again with its token", (ledger) => {
  const newToken = () => crypto.randomUUID();

  test("of a report is the same claim, for as long as its lease is valid", async () => {
    const [owner, token] = [await ledger.newOwner(), newToken()];
    const first = await ledger.claimReport(owner, { token });
    expect(first).toMatchObject({ outcome: "claimed", token });
    await ledger.moveClock("19 minutes 59 seconds");
    expect(await ledger.claimReport(owner, { token })).toEqual(first);
    expect(await ledger.claimReport(owner)).toMatchObject({ outcome: "busy", token: null });
    expect((await ledger.report(first.id)).attempts).toBe(1);
  });

  test("of a report that had failed is resumed both times, and counted once", async () => {
    const [owner, token] = [await ledger.newOwner(), newToken()];
    await ledger.failReport(await ledger.claimReport(owner), "social_retry");
    const first = await ledger.claimReport(owner, { token });
    expect(first.outcome).toBe("resumed");
    expect(await ledger.claimReport(owner, { token })).toEqual(first);
    expect((await ledger.report(first.id)).attempts).toBe(2);
  });

  test("of a report that was completed in between is completed", async () => {
    const [owner, token] = [await ledger.newOwner(), newToken()];
    const claim = await ledger.claimReport(owner, { token });
    await ledger.persist(owner, claim);
    expect(await ledger.claimReport(owner, { token })).toMatchObject({ outcome: "completed", token: null });
  });

  test("of a report whose lease has expired gets a new lease", async () => {
    const [owner, token] = [await ledger.newOwner(), newToken()];
    await ledger.claimReport(owner, { token });
    await ledger.moveClock("20 minutes");
    const again = await ledger.claimReport(owner, { token });
    expect(again).toMatchObject({ outcome: "taken_over", token });
    expect(again.leaseEnd).toEqual(new Date("2026-11-23T11:40:00Z"));
  });

  test("of a delivery is the same claim until it was dispatched, then busy", async () => {
    const [report, token] = [await ledger.completedReport(), newToken()];
    const ask = () => ledger.claimDelivery(report, "whatsapp", ledger.sql, token);
    const first = await ask();
    expect(first).toMatchObject({ outcome: "claimed", token });
    await ledger.moveClock("4 minutes 59 seconds");
    expect(await ask()).toEqual(first);
    expect((await ledger.delivery(first.id)).attempts).toBe(1);
    await ledger.dispatch(first);
    expect(await ask()).toMatchObject({ outcome: "busy", token: null });
    await ledger.moveClock("1 second");
    expect(await ask()).toMatchObject({ outcome: "unknown", token: null });
  });

  test("at once by twenty sessions gives one row and one claim", async () => {
    const [owner, token] = [await ledger.newOwner(), newToken()];
    const claims = await Promise.all(Array.from({ length: 20 }, () => ledger.claimReport(owner, { token })));
    expect(new Set(claims.map((claim) => JSON.stringify(claim))).size).toBe(1);
  });

  test("leaves only functions with a token: a call without one is not ambiguous", async () => {
    const rows = await ledger.sql`
      select oidvectortypes(proargtypes) as args from pg_proc where proname like 'claim_weekly_performance_%'`;
    expect(rows.map(({ args }) => args).every((args) => args.endsWith("uuid"))).toBe(true);
    expect(rows.length).toBe(2);
    const [row] = await ledger.sql`
      select outcome from public.claim_weekly_performance_delivery(${await ledger.completedReport()}, 'email')`;
    expect(row!.outcome).toBe("claimed");
  });
});
