/** Who gets a claim of a report or of a delivery, for how long, and what everybody else gets. */
import { expect, test } from "bun:test";
import type postgres from "postgres";
import { MONDAY, WEEK } from "../support/seed.ts";
import { type Claim, describeLedger, type Ledger, type Owner, refusal, shifted } from "./support/ledger.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LAST_CLOSED = "OW002 weekly_performance_window_not_last_closed";
/** When it is Monday, 08:00, and so many minutes. */
const minutesLater = (minutes: number) => new Date(Date.parse(MONDAY) + minutes * 60_000);
const noClaim = (id: string | null, outcome: string) => ({ id, outcome, token: null, leaseEnd: null });

/** Something of a new owner that can be claimed. */
type Claimable = {
  take(options?: { sql?: postgres.ISql; token?: string }): Promise<Claim>;
  row(id: string): Promise<postgres.Row>;
  fail(claim: Claim): Promise<unknown>;
};

/** The two things that can be claimed; `leaseMinutes` is how long a claim lasts. */
const KINDS = {
  "a report": {
    leaseMinutes: 20,
    async of(ledger: Ledger): Promise<Claimable> {
      const owner = await ledger.newOwner();
      return {
        take: (options) => ledger.claimReport(owner, options),
        row: (id) => ledger.report(id),
        fail: (claim) => ledger.failReport(claim, "APP_HTTP_500"),
      };
    },
  },
  "a delivery": {
    leaseMinutes: 5,
    async of(ledger: Ledger): Promise<Claimable> {
      const report = await ledger.completedReport();
      return {
        take: ({ sql, token } = {}) => ledger.claimDelivery(report, "whatsapp", sql, token),
        row: (id) => ledger.delivery(id),
        fail: (claim) => ledger.settle(claim, "failed", null, "recipient_phone_missing"),
      };
    },
  },
};

/** One session claims and keeps its transaction open; the second has to wait for it. */
async function holdAndRace(ledger: Ledger, { take }: Claimable): Promise<Claim[]> {
  let second: Promise<Claim> | undefined;
  const first = (await ledger.sql.begin(async (sql) => {
    const claim = await take({ sql });
    second = take();
    await ledger.untilWaiting();
    return claim;
  })) as Claim;
  return [first, await second!];
}

function expectOneWinner(claims: Claim[], outcome: string): void {
  const winners = claims.filter((claim) => claim.token !== null);
  expect(winners.map((claim) => claim.outcome)).toEqual([outcome]);
  expect(new Set(claims.map((claim) => claim.id)).size).toBe(1);
  expect(claims.filter((claim) => claim.outcome === "busy").length).toBe(claims.length - 1);
}

describeLedger("a claim", (ledger) => {
  for (const [name, { leaseMinutes, of }] of Object.entries(KINDS)) {
    const lease = `${leaseMinutes} minutes`;

    test(`a claim of ${name} makes a running row with a token and a lease of ${lease}`, async () => {
      const { take, row } = await of(ledger);
      const claim = await take();
      expect(claim).toMatchObject({ outcome: "claimed", token: expect.stringMatching(UUID) });
      expect(claim.leaseEnd).toEqual(minutesLater(leaseMinutes));
      const made = await row(claim.id);
      expect(made).toMatchObject({ status: "running", claim_token: claim.token, attempts: 1 });
      // Apart: toMatchObject takes any date for any other.
      expect([made.lease_expires_at, made.created_at]).toEqual([claim.leaseEnd, new Date(MONDAY)]);
    });

    test(`a claim of ${name} is busy for everybody else until its lease ends, and changes nothing`, async () => {
      const { take, row } = await of(ledger);
      const first = await take();
      const before = await row(first.id);
      await ledger.setClock(await shifted(ledger.sql, first.leaseEnd!, "-1 microsecond"));
      expect(await take()).toEqual({ ...first, outcome: "busy", token: null });
      expect(await row(first.id)).toEqual(before);
    });

    test(`a claim of ${name} is taken over at exactly the end of its lease, with a new token and a new lease`, async () => {
      const { take, row } = await of(ledger);
      const first = await take();
      await ledger.setClock(await shifted(ledger.sql, first.leaseEnd!, "0 seconds"));
      const second = await take();
      expect(second).toMatchObject({
        id: first.id,
        outcome: "taken_over",
        token: expect.stringMatching(UUID),
      });
      expect(second.token).not.toBe(first.token);
      expect(second.leaseEnd).toEqual(minutesLater(2 * leaseMinutes));
      expect(await row(first.id)).toMatchObject({
        status: "running",
        claim_token: second.token,
        attempts: 2,
      });
    });

    test(`a claim of ${name} that failed is resumed with a clean slate`, async () => {
      const { take, row, fail } = await of(ledger);
      const first = await take();
      await fail(first);
      const second = await take();
      expect(second).toMatchObject({ id: first.id, outcome: "resumed" });
      expect(second.token).not.toBe(first.token);
      expect(await row(first.id)).toMatchObject({ status: "running", error_code: null, attempts: 2 });
    });

    test(`a claim of ${name} asked again with its token is the same claim, counted once, until its lease ends`, async () => {
      const { take, row, fail } = await of(ledger);
      const token = crypto.randomUUID();
      const first = await take({ token });
      expect(first).toMatchObject({ outcome: "claimed", token });
      await ledger.moveClock(`${leaseMinutes - 1} minutes 59 seconds`);
      expect(await take({ token })).toEqual(first);
      expect((await row(first.id)).attempts).toBe(1);
      await ledger.moveClock("1 second");
      const again = await take({ token });
      expect(again).toMatchObject({ outcome: "taken_over", token });
      expect(again.leaseEnd).toEqual(minutesLater(2 * leaseMinutes));
      await fail(again);
      const resumed = await take({ token: crypto.randomUUID() });
      expect(await take({ token: resumed.token! })).toEqual(resumed);
      expect([resumed.outcome, (await row(first.id)).attempts]).toEqual(["resumed", 3]);
    });

    test(`a claim of ${name} by two sessions goes to one: for no row yet, an expired lease, a failure`, async () => {
      const fresh = await of(ledger);
      expectOneWinner(await holdAndRace(ledger, fresh), "claimed");
      await ledger.moveClock(lease);
      expectOneWinner(await holdAndRace(ledger, fresh), "taken_over");
      const failed = await of(ledger);
      await failed.fail(await failed.take());
      expectOneWinner(await holdAndRace(ledger, failed), "resumed");
    });

    test(`a claim of ${name} goes to the second session when the first rolls back`, async () => {
      const { take } = await of(ledger);
      let second: Promise<Claim> | undefined;
      const rolledBack = ledger.sql.begin(async (sql) => {
        await take({ sql });
        second = take();
        await ledger.untilWaiting();
        throw new Error("rolled back");
      });
      await expect(rolledBack).rejects.toThrow("rolled back");
      expect(await second!).toMatchObject({ outcome: "claimed" });
    });

    test(`a claim of ${name} by twenty sessions gives one token, and twenty questions with one token one claim`, async () => {
      const twenty = ({ take }: Claimable, token?: string) =>
        Promise.all(Array.from({ length: 20 }, () => take(token ? { token } : {})));
      const one = await of(ledger);
      expectOneWinner(await twenty(one), "claimed");
      await ledger.moveClock(lease);
      expectOneWinner(await twenty(one), "taken_over");
      const claims = await twenty(await of(ledger), crypto.randomUUID());
      expect(new Set(claims.map((claim) => JSON.stringify(claim))).size).toBe(1);
    });
  }

  test("has one function for each kind: a call without a token is not ambiguous", async () => {
    const rows = await ledger.sql`
      select oidvectortypes(proargtypes) as args from pg_proc where proname like 'claim_weekly_performance_%'`;
    expect(rows.map(({ args }) => args.endsWith("uuid"))).toEqual([true, true]);
  });
});

describeLedger("claim_weekly_performance_report()", (ledger) => {
  const rowsOf = ({ tenantId }: Owner) =>
    ledger.sql`select from weekly_performance_reports where tenant_id = ${tenantId}`;

  test("names owner, week and version in its row", async () => {
    const owner = await ledger.newOwner();
    const row = await ledger.report((await ledger.claimReport(owner)).id);
    expect(row).toMatchObject({ tenant_id: owner.tenantId, user_id: owner.userId, schema_version: 1 });
    expect([row.window_start, row.window_end]).toEqual([new Date(WEEK.start), new Date(WEEK.end)]);
  });

  test("answers a completed row for reuse and changes nothing, also of an owner who is no longer eligible", async () => {
    const owner = await ledger.newOwner();
    const token = crypto.randomUUID();
    const claim = await ledger.claimReport(owner, { token });
    await ledger.persist(owner, claim);
    const before = await ledger.report(claim.id);
    await ledger.moveClock("2 hours");
    await ledger.sql`update tenants set archived_at = now() where id = ${owner.tenantId}`;
    for (const given of [undefined, token])
      expect(await ledger.claimReport(owner, given ? { token: given } : {})).toMatchObject(
        noClaim(claim.id, "completed"),
      );
    expect(await ledger.report(claim.id)).toEqual(before);
  });

  test("waits for a session that completes the row, and reuses it", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    let second: Promise<Claim> | undefined;
    await ledger.sql.begin(async (tx) => {
      await ledger.on(tx).persist(owner, claim);
      second = ledger.claimReport(owner);
      await ledger.untilWaiting();
    });
    expect(await second!).toMatchObject(noClaim(claim.id, "completed"));
  });

  test("refuses an ineligible owner without making a row, and does not resume a failed one", async () => {
    const suspended = await ledger.newOwner({ wallet: "suspended" });
    expect(await ledger.claimReport(suspended)).toMatchObject(noClaim(null, "ineligible"));
    expect(await rowsOf(suspended)).toHaveLength(0);
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    await ledger.failReport(claim, "APP_HTTP_500");
    await ledger.sql`update credit_wallets set status = 'closed' where tenant_id = ${owner.tenantId}`;
    expect(await ledger.claimReport(owner)).toMatchObject({ outcome: "ineligible", token: null });
    expect(await ledger.report(claim.id)).toMatchObject({ status: "failed", attempts: 1 });
  });

  test("refuses a user of another tenant and a user who is no owner", async () => {
    const [owner, other] = [await ledger.newOwner(), await ledger.newOwner()];
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

  test("refuses every window but the last closed one, also for an unfinished row of an older one", async () => {
    const owner = await ledger.newOwner();
    for (const [start, end] of [
      ["2026-11-09T03:00:00Z", WEEK.start],
      [WEEK.end, "2026-11-30T03:00:00Z"],
      [WEEK.start, "2026-11-23T03:00:00.000001Z"],
      ["2026-11-16T02:59:59.999999Z", WEEK.end],
      ["2026-11-16T00:00:00Z", "2026-11-23T00:00:00Z"],
      [null, WEEK.end],
    ] as [string, string][])
      expect(await refusal(ledger.claimReport(owner, { week: { start, end } }))).toBe(LAST_CLOSED);
    await ledger.failReport(await ledger.claimReport(owner), "APP_HTTP_500");
    await ledger.moveClock("7 days");
    expect(await refusal(ledger.claimReport(owner))).toBe(LAST_CLOSED);
  });
});

describeLedger("claim_weekly_performance_delivery()", (ledger) => {
  test("names report, owner and channel in its row, and claims a row that was left pending", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.completedReport(owner);
    const [row] = await ledger.sql`
      insert into weekly_performance_deliveries (report_id, tenant_id, user_id, channel, status)
      values (${report}, ${owner.tenantId}, ${owner.userId}, 'whatsapp', 'pending') returning id`;
    expect(await ledger.claimDelivery(report)).toMatchObject({ id: row!.id, outcome: "claimed" });
    const { id } = await ledger.claimDelivery(report, "email");
    expect(await ledger.delivery(id)).toMatchObject({
      report_id: report,
      tenant_id: owner.tenantId,
      user_id: owner.userId,
      channel: "email",
      dispatched_at: null,
    });
  });

  test("refuses a report that is not completed or missing, of an older week, and another channel", async () => {
    const owner = await ledger.newOwner();
    const claim = await ledger.claimReport(owner);
    expect(await refusal(ledger.claimDelivery(claim.id))).toBe("OW020 delivery_report_not_completed");
    await ledger.failReport(claim, "APP_TIMEOUT");
    expect(await refusal(ledger.claimDelivery(claim.id))).toBe("OW020 delivery_report_not_completed");
    expect(await refusal(ledger.claimDelivery(crypto.randomUUID()))).toBe("OW003 report_not_found");
    expect(
      await ledger.sql`
      select from weekly_performance_deliveries where tenant_id = ${owner.tenantId}`,
    ).toHaveLength(0);
    const report = await ledger.completedReport();
    expect(await refusal(ledger.claimDelivery(report, "sms"))).toBe(
      "23514 weekly_performance_deliveries_channel",
    );
    await ledger.settle(await ledger.claimDelivery(report), "failed", null, "recipient_phone_missing");
    await ledger.moveClock("7 days");
    for (const channel of ["whatsapp", "email"])
      expect(await refusal(ledger.claimDelivery(report, channel))).toBe(LAST_CLOSED);
  });

  test("keeps the channels of one report apart", async () => {
    const report = await ledger.completedReport();
    const whatsapp = await ledger.claimDelivery(report, "whatsapp");
    await ledger.settle(whatsapp, "failed", null, "recipient_phone_missing");
    const before = await ledger.delivery(whatsapp.id);
    expect(await ledger.claimDelivery(report, "email")).toMatchObject({ outcome: "claimed" });
    expect(await ledger.delivery(whatsapp.id)).toEqual(before);
  });

  test("makes a row unknown whose lease ended after dispatch, and gives nobody a token", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    const { report_id: report } = await ledger.delivery(claim.id);
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "-1 microsecond"));
    expect(await ledger.claimDelivery(report, "email")).toMatchObject({ outcome: "busy" });
    expect(await ledger.claimDelivery(report, "email", ledger.sql, claim.token)).toMatchObject({
      outcome: "busy",
    });
    await ledger.setClock(await shifted(ledger.sql, claim.leaseEnd!, "0 seconds"));
    for (const token of [null, claim.token])
      expect(await ledger.claimDelivery(report, "email", ledger.sql, token)).toEqual({
        ...claim,
        outcome: "unknown",
        token: null,
        leaseEnd: null,
      });
    const row = await ledger.delivery(claim.id);
    expect(row).toMatchObject({
      status: "unknown",
      error_code: "lease_expired_after_dispatch",
      masked_hint: "f***@example.com",
      attempts: 1,
    });
    expect(row.settled_at).toEqual(claim.leaseEnd);
  });

  test("makes a row unknown that its holder dispatches late, instead of having it sent twice", async () => {
    const report = await ledger.completedReport();
    const claim = await ledger.claimDelivery(report);
    let second: Promise<Claim> | undefined;
    await ledger.sql.begin(async (tx) => {
      await ledger.on(tx).dispatch(claim);
      await ledger.moveClock("5 minutes");
      second = ledger.claimDelivery(report);
      await ledger.untilWaiting();
    });
    expect(await second!).toMatchObject({ outcome: "unknown", token: null });
  });

  test("answers a sent and an unknown row as they are and changes nothing", async () => {
    const sent = await ledger.dispatchedDelivery("email");
    await ledger.settle(sent, "sent", "provider-id");
    const unknown = await ledger.unknownDelivery("email");
    await ledger.moveClock("6 hours");
    for (const [claim, outcome] of [
      [sent, "sent"],
      [unknown, "unknown"],
    ] as const) {
      const before = await ledger.delivery(claim.id);
      const again = await ledger.claimDelivery(before.report_id, "email");
      expect(again).toEqual({ ...claim, outcome, token: null, leaseEnd: null });
      expect(await ledger.delivery(claim.id)).toEqual(before);
    }
  });

  test("resumes a row that failed after its dispatch without a trace of it", async () => {
    const claim = await ledger.dispatchedDelivery("email");
    await ledger.settle(claim, "failed", null, "provider_422");
    const { report_id: report } = await ledger.delivery(claim.id);
    expect(await ledger.claimDelivery(report, "email")).toMatchObject({ id: claim.id, outcome: "resumed" });
    expect(await ledger.delivery(claim.id)).toMatchObject({
      sender_tenant_id: null,
      masked_hint: null,
      error_code: null,
      dispatched_at: null,
      settled_at: null,
    });
  });
});

describeLedger("a report that is stored and whose message is claimed in one statement", (ledger) => {
  test("is complete, and its message claimed", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.claimReport(owner);
    const token = crypto.randomUUID();
    const claim = await ledger.persistAndClaim(owner, report, { token });
    expect(claim).toMatchObject({ outcome: "claimed", token });
    expect(await ledger.persistAndClaim(owner, report, { token })).toEqual(claim);
    expect(await ledger.report(report.id)).toMatchObject({ status: "completed", attempts: 1 });
    expect(await ledger.delivery(claim.id)).toMatchObject({ status: "running", attempts: 1 });
  });

  test("is as it was when either is refused", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.claimReport(owner);
    const stranger = { ...report, token: crypto.randomUUID() };
    expect(await refusal(ledger.persistAndClaim(owner, stranger))).toStartWith("OW004");
    await ledger.sql`alter table weekly_performance_deliveries add constraint broken check (false) not valid`;
    expect(await refusal(ledger.persistAndClaim(owner, report))).toBe("23514 broken");
    await ledger.sql`alter table weekly_performance_deliveries drop constraint broken`;
    expect(await ledger.report(report.id)).toMatchObject({ status: "running", payload: null });
    expect(
      await ledger.sql`
      select from weekly_performance_deliveries where report_id = ${report.id}`,
    ).toHaveLength(0);
  });

  test("claims nothing when another version of the report has sent the message", async () => {
    const owner = await ledger.newOwner();
    const report = await ledger.claimReport(owner);
    await ledger.sql`
      insert into weekly_performance_deliveries
        (report_id, tenant_id, user_id, channel, status, attempts, claim_token, lease_expires_at, sender_tenant_id,
         masked_hint, provider_message_id, dispatched_at, settled_at)
      values (${await ledger.otherVersion(owner)}, ${owner.tenantId}, ${owner.userId}, 'whatsapp', 'sent', 1,
              gen_random_uuid(), now(), gen_random_uuid(), '4321', '3EB0', now(), now())`;
    expect(await ledger.persistAndClaim(owner, report)).toMatchObject({ outcome: "sent", token: null });
    expect(await ledger.report(report.id)).toMatchObject({ status: "completed" });
  });
});
