/**
 * São Paulo's distance from UTC: PromQL knows no time zones, and Brazil has had no summer time since 2019. If it comes
 * back, these rules fire an hour late in its months.
 */
const SAO_PAULO = 10_800;
const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Seconds since 1970 as a clock in São Paulo counts them, and those of its last midnight. */
const LOCAL = `(time() - ${SAO_PAULO})`;
const MIDNIGHT = `(${LOCAL} - ${LOCAL} % ${DAY})`;

/**
 * A query that is 1 on Mondays in São Paulo, from a time of day until midnight, while the newest of a metric's time
 * stamps is of an earlier day; else 0.
 *
 * Behaviour: a metric that is not written counts from 1970, so that absence fires. `last_over_time` bridges the gap
 *            that a restart of the agent leaves.
 * Units:     `from` is the time of day in São Paulo.
 * Source:    promtool, minute by minute: tests/alert-rules/monday.test.ts.
 */
export function mondayWithout(metric: string, from: { hour: number; minute: number }): string {
  const newest = `(max(last_over_time(${metric}[1h])) or vector(0))`;
  const isMonday = `(day_of_week(vector(${LOCAL})) == bool 1)`;
  const isLate = `(${LOCAL} % ${DAY} >= bool ${from.hour * HOUR + from.minute * 60})`;
  return `${isMonday} * ${isLate} * (${newest} - ${SAO_PAULO} < bool ${MIDNIGHT})`;
}
