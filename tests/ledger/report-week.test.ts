import { expect, test } from "bun:test";
import { readReportWeek } from "../../lib/ledger/report-week.ts";
import { describeWeek } from "../reports/support/week.ts";

describeWeek("readReportWeek()", (ledger) => {
  const MONDAY_WEEK = {
    week: "2026-11-16",
    lastDate: "2026-11-22",
    start: "2026-11-16T03:00:00Z",
    end: "2026-11-23T03:00:00Z",
  };

  test.each([
    ["2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z"],
    ["2026-11-24T02:59:59Z", "2026-11-24T03:00:00Z"],
    ["2026-11-24T03:00:00Z", null],
    ["2026-11-29T11:00:00Z", null],
  ])("is the last closed week at %s, to be repeated until %s", async (clock, retryableUntil) => {
    await ledger.setClock(clock);
    const expected = { ...MONDAY_WEEK, now: clock, retryableUntil };
    expect(await readReportWeek(ledger.sql, undefined)).toEqual(expected);
    expect(await readReportWeek(ledger.sql, "2026-11-16")).toEqual(expected);
  });

  test("of an older Monday is closed for good, also on a Monday", async () => {
    const now = "2026-11-30T11:00:00Z";
    await ledger.setClock(now);
    const expected = { ...MONDAY_WEEK, now, retryableUntil: null };
    expect(await readReportWeek(ledger.sql, "2026-11-16")).toEqual(expected);
  });

  test("counts calendar days over a change of the clocks", async () => {
    expect(await readReportWeek(ledger.sql, "2018-10-29")).toMatchObject({
      start: "2018-10-29T03:00:00Z",
      end: "2018-11-05T02:00:00Z",
    });
  });

  test.each(["2026-11-23", "2026-11-30", "2030-01-07"])(
    "refuses the week of %s, which has not ended",
    async (week) => {
      await ledger.setClock("2026-11-29T23:59:00Z");
      await expect(readReportWeek(ledger.sql, week)).rejects.toMatchObject({ code: "WEEK_NOT_CLOSED" });
    },
  );

  test("does not depend on the session's time zone", async () => {
    await ledger.setClock("2026-11-23T12:00:00Z");
    const found = await ledger.sql.begin(async (tx) => {
      await tx`set local time zone 'Pacific/Auckland'`;
      return await readReportWeek(tx, "2026-11-16");
    });
    expect(found).toMatchObject(MONDAY_WEEK);
  });
});
