import * as v from "valibot";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const deliveryCounts = v.object({
  sent: count,
  partial: count,
  failed: count,
  unknown: count,
  running: count,
  missing: count,
});

/** The ledger of one week, as `weekly_performance_week` counts it. */
export const weekCountsSchema = v.looseObject({
  owners: count,
  reports: v.object({ completed: count, running: count, failed: count, missing: count }),
  whatsapp: deliveryCounts,
  email: deliveryCounts,
  social: v.object({ connected: count, failed: count, owners: count }),
});

/** The ledger of one week in numbers. */
export type WeekCounts = v.InferOutput<typeof weekCountsSchema>;

/** The states in which a delivery still needs a run or a person, in the order in which they are shown. */
export const OPEN_STATES = ["failed", "unknown", "partial", "running", "missing"] as const;

/** The channels that deliver. */
export const DELIVERY_CHANNELS = ["whatsapp", "email"] as const;

/** How many deliveries of a week are open, over both channels. */
export function openDeliveries(week: WeekCounts): number {
  const counts = DELIVERY_CHANNELS.flatMap((channel) => OPEN_STATES.map((state) => week[channel][state]));
  return counts.reduce((sum, one) => sum + one, 0);
}
