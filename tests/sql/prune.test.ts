import { beforeEach, expect, test } from "bun:test";
import type postgres from "postgres";
import { describeLedger, type Ledger, refusal } from "./support/ledger.ts";

const prune = async (ledger: Ledger, before: string | null, limit = 100): Promise<number> => {
  const [row] = await ledger.sql`
    select prune_weekly_performance_reports(p_before => ${before}::text::timestamptz, p_limit => ${limit}) as pruned`;
  return row!.pruned;
};

/** The Monday on which the week of 2026-11-16 is eight weeks old: closed for 56 dates. */
const EIGHT_WEEKS_LATER = "2027-01-18T11:00:00Z";
const AFTER_THE_WEEK = "2026-11-23T03:00:00Z";

describeLedger("prune_weekly_performance_reports()", (ledger) => {
  beforeEach(() => ledger.empty());

  test("removes the content of a completed report, and keeps the proof that it was made", async () => {
    const id = await ledger.completedReport();
    const before = await ledger.report(id);
    await ledger.setClock(EIGHT_WEEKS_LATER);
    expect(await prune(ledger, AFTER_THE_WEEK)).toBe(1);
    const pruned_at = new Date(EIGHT_WEEKS_LATER);
    expect(await ledger.report(id)).toEqual({
      ...before,
      payload: null,
      evidence: null,
      pruned_at,
      updated_at: pruned_at,
    });
    expect(await prune(ledger, AFTER_THE_WEEK)).toBe(0);
  });

  test.each([
    ["a week that is eight weeks old, to the microsecond", "2027-01-18T03:00:00Z", AFTER_THE_WEEK, 1],
    [
      "the same on the Sunday before",
      "2027-01-18T02:59:59.999999Z",
      AFTER_THE_WEEK,
      "OW014 prune_week_too_young",
    ],
    [
      "a microsecond of the week after it",
      EIGHT_WEEKS_LATER,
      "2026-11-23T03:00:00.000001Z",
      "OW014 prune_week_too_young",
    ],
    ["this week", EIGHT_WEEKS_LATER, EIGHT_WEEKS_LATER, "OW014 prune_week_too_young"],
    ["infinity", EIGHT_WEEKS_LATER, "infinity", "OW014 prune_week_too_young"],
    ["an instant inside the week", EIGHT_WEEKS_LATER, "2026-11-16T03:00:00.000001Z", 1],
    ["the beginning of the week itself", EIGHT_WEEKS_LATER, "2026-11-16T03:00:00Z", 0],
    ["null", EIGHT_WEEKS_LATER, null, "OW014 prune_week_too_young"],
  ])("%s", async (_name, now, before, expected) => {
    await ledger.completedReport();
    await ledger.setClock(now);
    if (typeof expected === "number") expect(await prune(ledger, before)).toBe(expected);
    else expect(await refusal(prune(ledger, before))).toBe(expected);
  });

  test("counts weeks as local dates, across a clock change", async () => {
    // On 2018-11-04 São Paulo put its clocks forward: eight weeks are an hour short of 1344 hours.
    await ledger.setClock("2018-12-10T12:00:00Z");
    expect(await prune(ledger, "2018-10-15T03:00:00Z")).toBe(0);
    expect(await refusal(prune(ledger, "2018-10-15T03:00:00.000001Z"))).toBe("OW014 prune_week_too_young");
  });

  test("leaves reports alone that are not completed", async () => {
    const running = await ledger.claimReport(await ledger.newOwner());
    const failed = await ledger.claimReport(await ledger.newOwner());
    await ledger.failReport(failed, "report_persist_failed");
    const before = [await ledger.report(running.id), await ledger.report(failed.id)];
    await ledger.setClock(EIGHT_WEEKS_LATER);
    expect(await prune(ledger, AFTER_THE_WEEK)).toBe(0);
    expect([await ledger.report(running.id), await ledger.report(failed.id)]).toEqual(before);
  });

  test("removes as many as it may at a time", async () => {
    for (let i = 0; i < 5; i += 1) await ledger.completedReport();
    await ledger.setClock(EIGHT_WEEKS_LATER);
    const pruned = [];
    for (let i = 0; i < 4; i += 1) pruned.push(await prune(ledger, AFTER_THE_WEEK, 2));
    expect(pruned).toEqual([2, 2, 1, 0]);
  });

  test("passes over rows that another session holds", async () => {
    const [held] = [await ledger.completedReport(), await ledger.completedReport()];
    await ledger.setClock(EIGHT_WEEKS_LATER);
    await ledger.sql.begin(async (tx) => {
      await tx`select from weekly_performance_reports where id = ${held} for update`;
      expect(await prune(ledger, AFTER_THE_WEEK)).toBe(1);
    });
    expect(await prune(ledger, AFTER_THE_WEEK)).toBe(1);
  });

  test("leaves a row that never changes again", async () => {
    const id = await ledger.completedReport();
    const { payload, evidence } = await ledger.report(id);
    await ledger.setClock(EIGHT_WEEKS_LATER);
    await prune(ledger, AFTER_THE_WEEK);
    for (const set of [
      "pruned_at = null",
      "updated_at = now()",
      `payload = '${JSON.stringify(payload)}', evidence = '${evidence}', pruned_at = null`,
    ])
      expect(
        await refusal(ledger.sql.unsafe(`update weekly_performance_reports set ${set} where id = '${id}'`)),
      ).toBe("OW012 report_completed_is_immutable");
  });

  test("is the only way: content is removed with pruned_at, whole, and from completed reports only", async () => {
    const id = await ledger.completedReport();
    const { id: other } = await ledger.claimReport(await ledger.newOwner());
    const update = (set: string, row: string) =>
      refusal(ledger.sql.unsafe(`update weekly_performance_reports set ${set} where id = '${row}'`));
    expect(await update("payload = null, evidence = null", id)).toBe("OW012 report_completed_is_immutable");
    expect(await update("payload = null, pruned_at = now()", id)).toStartWith("23514");
    expect(await update("pruned_at = now()", id)).toStartWith("23514");
    expect(
      await update("payload = null, evidence = null, pruned_at = now(), fingerprint = 'x'", id),
    ).toStartWith("OW012");
    expect(await update("pruned_at = now()", other)).toStartWith("23514");
  });

  test("is allowed for service_role, and hidden from nobody's own page", async () => {
    const owner = await ledger.newOwner();
    await ledger.completedReport(owner);
    await ledger.setClock(EIGHT_WEEKS_LATER);
    for (const role of ["authenticated", "anon"])
      expect(
        await refusal(
          ledger.as(role, (tx) => tx`select prune_weekly_performance_reports(${AFTER_THE_WEEK}, 1)`),
        ),
      ).toStartWith("42501");
    await ledger.as(
      "service_role",
      (tx) => tx`select prune_weekly_performance_reports(${AFTER_THE_WEEK}, 1)`,
    );
    const read = (tx: postgres.ISql) => tx`
      select status, payload, pruned_at is not null as pruned from weekly_performance_reports`;
    expect(Array.from(await ledger.as("authenticated", read, owner.userId))).toEqual([
      { status: "completed", payload: null, pruned: true },
    ]);
  });
});
