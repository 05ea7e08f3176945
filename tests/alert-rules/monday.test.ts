/**
 * The two rules on a Monday, minute by minute around the times at which they begin and end, in promtool. What they
 * should say comes from the time zone database, which PromQL does not have.
 */
import { expect, test } from "bun:test";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import { Temporal } from "../../lib/time/temporal.ts";
import { named, type Series } from "../fixtures/rules/series.ts";
import { requires } from "../support/requires.ts";
import { type Expectation, findingsOf } from "./support/rule-tester.ts";

const NOT_RUN = "opsctl-weekly-report-not-run";
const INCOMPLETE = "opsctl-weekly-report-incomplete";
const BEGUN = named("weekly_report_last_run_timestamp_seconds");
const SUCCEEDED = named("weekly_report_last_success_timestamp_seconds");
const OTHER_HOST = 'instance="other",job="integrations/unix"';
const ZONE = "America/Sao_Paulo";
/** The tester begins on 1 January 1970, and each day of its takes long: the first Monday. Time stamps may be older. */
const MONDAY = Temporal.PlainDate.from("1970-01-05");
const MINUTES = 7 * 1440;
/** The queries are asked at every minute; the alerts are evaluated at their ends only, since the tester takes long. */
const EVALUATED_MINUTES = 15;

const rules = alertRules({ withExtras: true }).filter(({ uid }) => uid === NOT_RUN || uid === INCOMPLETE);
const tested = requires("promtool");

/** The minute of a clock in São Paulo, counted from the tester's beginning; `days` after that Monday. */
function minuteOf(time: string, days = 0): number {
  const local = MONDAY.add({ days }).toZonedDateTime({ timeZone: ZONE, plainTime: time });
  return local.epochMilliseconds / 60_000;
}

/** A time stamp that becomes each of these minutes when it comes; absent before the first. The tester begins at 0. */
function stamps(...minutes: number[]): string {
  const begins = minutes.map((minute) => Math.max(minute, 0));
  const spans = minutes.map((minute, index) => {
    const until = begins[index + 1] ?? MINUTES;
    return `${minute * 60}+0x${until - begins[index]! - 1}`;
  });
  return [...(begins[0] === 0 ? [] : [`_x${begins[0]}`]), ...spans].join(" ");
}

/** What the rules say at each minute of the day and around it, when these are all runs and successes. */
function expectationsFor(begun: readonly number[], succeeded: readonly number[]): Expectation[] {
  const around = [
    ["08:15", 0],
    ["20:00", 0],
    ["00:00", 0],
    ["00:00", 1],
    ["08:15", -1],
    ["20:00", -1],
    ["08:15", 1],
    ["20:00", 1],
  ] as const;
  const minutes = around.flatMap(([time, days]) => {
    const minute = minuteOf(time, days);
    return [minute - 2, minute - 1, minute, minute + 1];
  });
  return minutes.map((minute) => {
    const now = localTime(minute);
    const isToday = (other: number) =>
      other <= minute && localTime(other).toPlainDate().equals(now.toPlainDate());
    const isMondayFrom = (time: string) =>
      now.dayOfWeek === 1 &&
      Temporal.PlainTime.compare(now.toPlainTime(), Temporal.PlainTime.from(time)) >= 0;
    const notRun = isMondayFrom("08:15") && !begun.some(isToday);
    const incomplete = isMondayFrom("20:00") && !succeeded.some(isToday);
    const values = { [NOT_RUN]: Number(notRun), [INCOMPLETE]: Number(incomplete) };
    const fires = { [NOT_RUN]: notRun, [INCOMPLETE]: incomplete };
    return { at: `${minute}m`, values, ...(minute % EVALUATED_MINUTES === 0 ? { fires } : {}) };
  });
}

function localTime(minute: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(minute * 60_000).toZonedDateTimeISO(ZONE);
}

function findings(series: Series, expectations: Expectation[]): string {
  return findingsOf(rules, series, expectations, `${EVALUATED_MINUTES}m`);
}

const LAST_WEEK = minuteOf("08:00", -7);

/** Runs and successes of a week before and of this Monday, in minutes. */
const COURSES: { name: string; begun: number[]; succeeded: number[] }[] = [
  { name: "nothing runs", begun: [LAST_WEEK], succeeded: [LAST_WEEK + 20] },
  { name: "all goes well", begun: [LAST_WEEK, minuteOf("08:00")], succeeded: [LAST_WEEK, minuteOf("08:40")] },
  { name: "the run fails", begun: [LAST_WEEK, minuteOf("08:00")], succeeded: [LAST_WEEK] },
  { name: "it begins a minute late", begun: [LAST_WEEK, minuteOf("08:16")], succeeded: [minuteOf("20:01")] },
  { name: "it begins in the last minute", begun: [minuteOf("23:59")], succeeded: [minuteOf("23:59")] },
  {
    name: "it ran in Sunday's last minute",
    begun: [minuteOf("23:59", -1)],
    succeeded: [minuteOf("23:59", -1)],
  },
  { name: "it ran in Monday's first minute", begun: [minuteOf("00:00")], succeeded: [minuteOf("00:00")] },
  {
    name: "it ran in Tuesday's first minute",
    begun: [LAST_WEEK, minuteOf("00:00", 1)],
    succeeded: [LAST_WEEK],
  },
];

tested.describe("the rules on a Monday in São Paulo", () => {
  test("this test knows the day: 08:15 is 11:15 UTC, and both rules are there", () => {
    expect(minuteOf("08:15")).toBe(Date.UTC(1970, 0, 5, 11, 15) / 60_000);
    expect(rules.map(({ uid }) => uid)).toEqual([NOT_RUN, INCOMPLETE]);
  });

  test.each(COURSES)("are right at each minute when $name", ({ begun, succeeded }) => {
    const series = { [BEGUN]: stamps(...begun), [SUCCEEDED]: stamps(...succeeded) };
    expect(findings(series, expectationsFor(begun, succeeded))).toBe("");
  });

  test("speak when there is no time stamp at all", () => {
    expect(findings({ [named("up")]: `1+0x${MINUTES}` }, expectationsFor([], []))).toBe("");
  });

  test("take the newest of several hosts", () => {
    const other = (metric: string) => named(metric, "", OTHER_HOST);
    const series = {
      [BEGUN]: stamps(LAST_WEEK),
      [SUCCEEDED]: stamps(LAST_WEEK),
      [other("weekly_report_last_run_timestamp_seconds")]: stamps(minuteOf("08:00")),
      [other("weekly_report_last_success_timestamp_seconds")]: stamps(minuteOf("09:00")),
    };
    expect(findings(series, expectationsFor([minuteOf("08:00")], [minuteOf("09:00")]))).toBe("");
  });

  test("bear the gap that a restart of the agent leaves", () => {
    const begun = minuteOf("08:00");
    const gap = `_x${begun} ${begun * 60}+0x9 stale _x40 ${begun * 60}+0x600`;
    const at = minuteOf("08:30");
    const fires = { [NOT_RUN]: false };
    expect(findings({ [BEGUN]: gap, [SUCCEEDED]: stamps(begun) }, [{ at: `${at}m`, fires }])).toBe("");
  });
});
