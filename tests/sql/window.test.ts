import { expect, test } from "bun:test";
import fc from "fast-check";
import type postgres from "postgres";
import { isReportDay } from "../../lib/time/report-day.ts";
import { Temporal } from "../../lib/time/temporal.ts";
import { weekWindow } from "../../lib/time/week-window.ts";
import { assertInDatabase } from "../support/property.ts";
import { WINDOW_VECTORS } from "../time/support/vectors.ts";
import { describeLedger } from "./support/ledger.ts";

type Answer = { now: string; start: string; end: string; reportDay: boolean };

/** What the database's functions say about each of the instants. */
async function ask(sql: postgres.ISql, instants: readonly string[]): Promise<Answer[]> {
  return await sql<Answer[]>`
    select i.now,
           to_char(w.window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as start,
           to_char(w.window_end at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as end,
           public.weekly_performance_is_report_day(i.now::timestamptz) as "reportDay"
    from jsonb_array_elements_text(${JSON.stringify(instants)}::text::jsonb) with ordinality as i(now, place),
         public.weekly_performance_window(i.now::timestamptz) as w
    order by i.place`;
}

/** What the worker's code says about the same instant. */
function compute(now: string): Answer {
  const instant = Temporal.Instant.from(now);
  const { start, end } = weekWindow(instant);
  return { now, start: start.toString(), end: end.toString(), reportDay: isReportDay(instant) };
}

describeLedger("weekly_performance_window() and weekly_performance_is_report_day()", (ledger) => {
  test("answer the known vectors, in any session zone", async () => {
    const expected = WINDOW_VECTORS.map(([now, reportDay, start, end]) => ({ now, start, end, reportDay }));
    for (const zone of [
      "UTC",
      "America/Sao_Paulo",
      "Pacific/Kiritimati",
      "Asia/Kolkata",
      "America/Los_Angeles",
    ])
      await ledger.sql.begin(async (tx) => {
        await tx`select set_config('timezone', ${zone}, true), set_config('datestyle', 'SQL, DMY', true)`;
        expect([
          zone,
          Array.from(
            await ask(
              tx,
              WINDOW_VECTORS.map(([now]) => now),
            ),
          ),
        ]).toEqual([zone, expected]);
      });
  });

  test("agree with a walk through every hour of 55 years", async () => {
    // The zone's offsets are whole hours, so the first hour of each local date is where that date begins.
    const [row] = await ledger.sql`
      with hours as (
        select h, (h at time zone 'America/Sao_Paulo')::date as day
        from generate_series('1985-01-01T03:00Z'::timestamptz, '2040-01-01T03:00Z', interval '1 hour') as h
      ), days as (
        select day, min(h) as starts from hours group by day
      ), followed as (
        select day, starts, lead(starts) over (order by day) as ends, to_char(day, 'Dy') = 'Mon' as is_monday from days
      ), mondays as (
        select starts, lag(starts) over (order by day) as before, lead(starts) over (order by day) as next
        from followed where is_monday
      ), wrong_day as (
        select day from followed as f, lateral (values (f.starts), (f.ends - interval '1 microsecond')) as i(now)
        where f.ends is not null and public.weekly_performance_is_report_day(i.now) <> f.is_monday
      ), wrong_window as (
        select m.starts from mondays as m,
             lateral (values (m.starts), (m.starts + interval '80 hours'), (m.next - interval '1 microsecond')) as i(now),
             lateral public.weekly_performance_window(i.now) as w
        where m.before is not null and m.next is not null
          and (w.window_start, w.window_end) is distinct from (m.before, m.starts)
      )
      select (select count(*)::int from followed) as days, (select count(*)::int from mondays) as mondays,
             (select coalesce(jsonb_agg(day), '[]') from wrong_day) as wrong_days,
             (select coalesce(jsonb_agg(starts), '[]') from wrong_window) as wrong_windows`;
    expect(row).toEqual({ days: 20089, mondays: 2869, wrong_days: [], wrong_windows: [] });
  });

  test("agree with the worker's own window at any instant", async () => {
    const second = fc
      .integer({ min: Date.parse("1985-01-01") / 1000, max: Date.parse("2040-12-31") / 1000 })
      .map((seconds) => new Date(seconds * 1000).toISOString().replace(".000", ""));
    await assertInDatabase(
      fc.asyncProperty(fc.array(second, { minLength: 1, maxLength: 100 }), async (instants) => {
        expect(Array.from(await ask(ledger.sql, instants))).toEqual(instants.map(compute));
      }),
      { numRuns: 30 },
    );
  });
});
