import { beforeEach, expect, test } from "bun:test";
import type { WeekState } from "../../lib/ledger/week-state.ts";
import { readWeekState } from "../../lib/ledger/week-state.ts";
import { WEEK } from "../support/seed.ts";
import { weeksBefore, writePastReport } from "../weekly/support/past-report.ts";
import { type Claim, describeLedger, type Ledger, type Owner, validPersist } from "./support/ledger.ts";

const NONE = { sent: 0, partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 };
const NOTHING: WeekState = {
  owners: 0,
  reports: { completed: 0, running: 0, failed: 0, missing: 0 },
  whatsapp: NONE,
  email: NONE,
  social: { connected: 0, failed: 0, owners: 0 },
  noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
  before: null,
};

/** The week of one owner whose report is completed, but for what is given. */
function completed(whatsapp: Partial<typeof NONE>, email: Partial<typeof NONE> = { missing: 1 }): WeekState {
  return {
    ...NOTHING,
    owners: 1,
    reports: { ...NOTHING.reports, completed: 1 },
    whatsapp: { ...NONE, ...whatsapp },
    email: { ...NONE, ...email },
  };
}

async function claimed(ledger: Ledger, channel = "whatsapp"): Promise<Claim> {
  return await ledger.claimDelivery(await ledger.completedReport(), channel);
}

async function sent(ledger: Ledger, channel = "whatsapp"): Promise<Claim> {
  const claim = await ledger.dispatchedDelivery(channel);
  await ledger.settle(claim, "sent", `id-${claim.id}`);
  return claim;
}

async function breakTimeline(ledger: Ledger): Promise<AsyncDisposable> {
  await ledger.sql.unsafe("alter table timeline_entries add constraint broken check (false) not valid");
  return {
    [Symbol.asyncDispose]: async () =>
      void (await ledger.sql.unsafe("alter table timeline_entries drop constraint broken")),
  };
}

/** Completes a report whose networks came from these sources. */
async function reportWithSources(ledger: Ledger, sources: object[], owner?: Owner): Promise<void> {
  const scope = owner ?? (await ledger.newOwner());
  const claim = await ledger.claimReport(scope);
  const payload = validPersist(scope, claim).payload as { provenance: object };
  await ledger.persist(scope, claim, {
    payload: { ...payload, provenance: { ...payload.provenance, sources } },
  });
}

const network = (status: string, code?: string) => ({
  channel: "instagram",
  connectionId: crypto.randomUUID(),
  status,
  ...(code === undefined ? {} : { code }),
});

describeLedger("weekly_performance_week()", (ledger) => {
  const week = () => readWeekState(ledger.sql, WEEK);

  beforeEach(async () => {
    await ledger.empty();
  });

  test("a week without owners has nothing, and every key", async () => {
    expect(await week()).toEqual(NOTHING);
  });

  test.each<[string, () => Promise<unknown>, WeekState]>([
    [
      "an owner without a report is missing",
      () => ledger.newOwner(),
      { ...NOTHING, owners: 1, reports: { ...NOTHING.reports, missing: 1 } },
    ],
    [
      "a report under its lease is running",
      async () => ledger.claimReport(await ledger.newOwner()),
      { ...NOTHING, owners: 1, reports: { ...NOTHING.reports, running: 1 } },
    ],
    [
      "a report to the end of its lease is running",
      async () => {
        await ledger.claimReport(await ledger.newOwner());
        await ledger.moveClock("20 minutes -1 microsecond");
      },
      { ...NOTHING, owners: 1, reports: { ...NOTHING.reports, running: 1 } },
    ],
    [
      "a report whose lease has expired has failed",
      async () => {
        await ledger.claimReport(await ledger.newOwner());
        await ledger.moveClock("20 minutes");
      },
      { ...NOTHING, owners: 1, reports: { ...NOTHING.reports, failed: 1 } },
    ],
    [
      "a failed report has failed",
      async () => ledger.failReport(await ledger.claimReport(await ledger.newOwner()), "social_retry"),
      { ...NOTHING, owners: 1, reports: { ...NOTHING.reports, failed: 1 } },
    ],
    [
      "a completed report without deliveries lacks both",
      () => ledger.completedReport(),
      completed({ missing: 1 }),
    ],
    ["a claimed delivery is running", () => claimed(ledger), completed({ running: 1 })],
    ["a dispatched delivery is running", () => ledger.dispatchedDelivery(), completed({ running: 1 })],
    [
      "a claimed delivery whose lease has expired has failed: the crash came before the provider",
      async () => {
        await claimed(ledger);
        await ledger.moveClock("5 minutes");
      },
      completed({ failed: 1 }),
    ],
    [
      "a dispatched delivery to the end of its lease is running",
      async () => {
        await ledger.dispatchedDelivery();
        await ledger.moveClock("5 minutes -1 microsecond");
      },
      completed({ running: 1 }),
    ],
    [
      "a dispatched delivery whose lease has expired is unknown, and no run has to come by",
      async () => {
        await ledger.dispatchedDelivery();
        await ledger.moveClock("5 minutes");
      },
      completed({ unknown: 1 }),
    ],
    [
      "the same on the next day, when no run may come by any more",
      async () => {
        await ledger.dispatchedDelivery();
        await ledger.moveClock("1 day");
      },
      completed({ unknown: 1 }),
    ],
    [
      "a delivery that was left pending has failed: nothing was sent, and another run may send it",
      async () => {
        const owner = await ledger.newOwner();
        await ledger.sql`
          insert into weekly_performance_deliveries (report_id, tenant_id, user_id, channel, status)
          values (${await ledger.completedReport(owner)}, ${owner.tenantId}, ${owner.userId}, 'whatsapp', 'pending')`;
      },
      completed({ failed: 1 }),
    ],
    ["an unknown delivery is unknown", () => ledger.unknownDelivery(), completed({ unknown: 1 })],
    [
      "a failed delivery has failed",
      async () => ledger.settle(await ledger.dispatchedDelivery(), "failed", null, "gateway_400"),
      completed({ failed: 1 }),
    ],
    ["a sent delivery is sent", () => sent(ledger), completed({ sent: 1 })],
    ["a sent e-mail is an e-mail's", () => sent(ledger, "email"), completed({ missing: 1 }, { sent: 1 })],
    [
      "one that was sent without its timeline entry is partial",
      async () => {
        await using _broken = await breakTimeline(ledger);
        await sent(ledger);
      },
      completed({ partial: 1 }),
    ],
    [
      "one that was reconciled as sent is sent",
      async () => ledger.reconcile((await ledger.unknownDelivery()).id, "sent", "3EB0"),
      completed({ sent: 1 }),
    ],
    [
      "one that was reconciled as failed has failed",
      async () => ledger.reconcile((await ledger.unknownDelivery()).id, "failed", null),
      completed({ failed: 1 }),
    ],
  ])("%s", async (_name, build, expected) => {
    await build();
    expect(await week()).toEqual(expected);
  });

  test("counts owners of the week alone", async () => {
    await ledger.completedReport();
    await ledger.setClock("2026-11-30T11:00:00Z");
    const next = { start: "2026-11-23T03:00:00Z", end: "2026-11-30T03:00:00Z" };
    expect(await readWeekState(ledger.sql, next)).toEqual({
      ...NOTHING,
      owners: 1,
      reports: { ...NOTHING.reports, missing: 1 },
      before: { week: "2026-11-16", owners: 1 },
    });
    expect((await week()).reports).toEqual({ completed: 1, running: 0, failed: 0, missing: 0 });
  });

  test("an owner who joined when the week could no longer be reported was not forgotten", async () => {
    const owner = await ledger.newOwner();
    const joined = (at: string) =>
      ledger.sql`update users set created_at = ${at}::text::timestamptz where id = ${owner.userId}`;
    await joined("2026-11-24T02:59:59.999Z");
    expect(await week()).toMatchObject({ owners: 1, reports: { missing: 1 } });
    await joined("2026-11-24T03:00:00Z");
    expect(await week()).toEqual(NOTHING);
    // With a report, the row counts in any case.
    await ledger.completedReport(owner);
    expect(await week()).toMatchObject({ owners: 1, reports: { completed: 1 } });
  });

  test("what nobody can repair for an owner who gets no reports any more is shown apart; unknown results stay", async () => {
    const owners = await Promise.all(Array.from({ length: 5 }, () => ledger.newOwner()));
    const [failedReport, failedDelivery, unsent, unsettled, whole] = owners as [
      Owner,
      Owner,
      Owner,
      Owner,
      Owner,
    ];
    await ledger.failReport(await ledger.claimReport(failedReport), "report_persist_failed");
    const deliver = async (owner: Owner) => {
      const claim = await ledger.claimDelivery(await ledger.completedReport(owner));
      await ledger.dispatch(claim);
      return claim;
    };
    await ledger.settle(await deliver(failedDelivery), "failed", null, "gateway_400");
    await ledger.completedReport(unsent);
    await ledger.settle(await deliver(unsettled), "unknown", null, "gateway_timeout");
    await ledger.settle(await deliver(whole), "sent", "3EB0");
    await ledger.sql`update credit_wallets set status = 'suspended'`;

    expect(await week()).toEqual({
      ...NOTHING,
      reports: { ...NOTHING.reports, completed: 4 },
      whatsapp: { ...NONE, sent: 1, unknown: 1 },
      noLongerEligible: { reports: 1, whatsapp: 2, email: 4 },
    });

    await ledger.sql`update credit_wallets set status = 'active'`;
    expect(await week()).toMatchObject({
      owners: 5,
      reports: { completed: 4, failed: 1 },
      whatsapp: { sent: 1, unknown: 1, failed: 1, missing: 1 },
      noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
    });
  });

  test("names the newest earlier week with completed reports, and how many owners had one", async () => {
    const [one, two] = [await ledger.newOwner(), await ledger.newOwner()] as [Owner, Owner];
    expect((await week()).before).toBeNull();
    for (const owner of [one, two]) await writePastReport(ledger.sql, owner, weeksBefore(WEEK, 3));
    await writePastReport(ledger.sql, one, weeksBefore(WEEK, 3), { version: 2 });
    await writePastReport(ledger.sql, one, weeksBefore(WEEK, 4));
    await writePastReport(ledger.sql, one, weeksBefore(WEEK, 2), { status: "failed" });
    await ledger.completedReport(one);
    expect((await week()).before).toEqual({ week: "2026-10-26", owners: 2 });
  });

  test("an owner without an eligible wallet, archived or with another role is not missing", async () => {
    await ledger.newOwner({ wallet: "closed" });
    const archived = await ledger.newOwner();
    await ledger.sql`update tenants set archived_at = now() where id = ${archived.tenantId}`;
    const member = await ledger.newOwner();
    await ledger.sql`update users set role = 'member' where id = ${member.userId}`;
    expect(await week()).toEqual(NOTHING);
  });

  test("the version of a report that has gone farthest counts, once", async () => {
    const owner = await ledger.newOwner();
    const id = await ledger.completedReport(owner);
    await ledger.sql.unsafe(`
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status, error_code)
      values ('${owner.tenantId}', '${owner.userId}', '${WEEK.start}', '${WEEK.end}', 2, 'failed', 'x')`);
    expect(await week()).toEqual(completed({ missing: 1 }));
    const claim = await ledger.claimDelivery(id);
    await ledger.dispatch(claim);
    await ledger.settle(claim, "sent", "3EB0");
    // Both completed: the one with the message counts.
    await ledger.sql.unsafe(`
      update weekly_performance_reports as r
      set status = 'completed', error_code = null, payload = o.payload, evidence = o.evidence,
          fingerprint = o.fingerprint, coverage_status = o.coverage_status, completed_at = o.completed_at
      from weekly_performance_reports as o where o.id = '${id}' and r.schema_version = 2`);
    expect(await week()).toEqual(completed({ sent: 1 }));
  });

  test("counts the networks that were asked for, and the owners of those that failed", async () => {
    await reportWithSources(ledger, [network("ok"), network("failed", "APP_HTTP_503")]);
    await reportWithSources(ledger, [network("failed", "APP_TIMEOUT"), network("failed", "APP_TIMEOUT")]);
    await reportWithSources(ledger, [
      network("missing", "analysis_missing"),
      { channel: "blog", status: "not_integrated" },
    ]);
    await reportWithSources(ledger, [{ channel: "linkedin", status: "missing", code: "not_connected" }]);
    expect((await week()).social).toEqual({ connected: 5, failed: 3, owners: 2 });
  });

  test("does not count what an operator chose to leave out", async () => {
    await reportWithSources(ledger, [network("failed", "social_left_out"), network("failed", "APP_TIMEOUT")]);
    expect((await week()).social).toEqual({ connected: 1, failed: 1, owners: 1 });
  });

  test("reads older rows, whose payload knows no sources, and those whose content was removed", async () => {
    await ledger.completedReport();
    await ledger.setClock("2027-03-01T11:00:00Z");
    await ledger.sql`select prune_weekly_performance_reports('2026-11-23T03:00:00Z', 10)`;
    expect(await week()).toEqual(completed({ missing: 1 }));
  });

  test("is read by service_role alone", async () => {
    const read = (role: string) => ledger.as(role, (tx) => readWeekState(tx, WEEK));
    expect(await read("service_role")).toEqual(NOTHING);
    for (const role of ["authenticated", "anon"])
      await expect(read(role)).rejects.toMatchObject({ code: "42501" });
  });
});
