import * as v from "valibot";
import { localDate } from "../../time/local-date.ts";
import { Temporal } from "../../time/temporal.ts";
import type { HistoryRows } from "../database/evidence.ts";
import type { WindowBounds } from "../database/reports.ts";
import {
  type ChannelName,
  emailMetricsSchema,
  metricsSchema,
  type Payload,
  scoreSchema,
} from "../payload.ts";

/** Each channel's figures of the week before; null where its report has none. */
export type PreviousMetrics = { [N in ChannelName]: NonNullable<Payload["channels"][N]["previous"]> | null };

/** The scores of a report's weeks. */
export type ScoreHistory = NonNullable<Payload["provenance"]["scoreHistory"]>;

/**
 * The figures that the report of the week before has of each channel.
 *
 * Behaviour: figures that do not fit the payload are absence: an older report never stops a new one.
 */
export function previousMetrics({ previous }: HistoryRows): PreviousMetrics {
  const plain = (name: ChannelName) => readable(metricsSchema, previous?.metrics[name]);
  return {
    email: readable(emailMetricsSchema, previous?.metrics.email),
    instagram: plain("instagram"),
    linkedin: plain("linkedin"),
    blog: plain("blog"),
    tiktok: plain("tiktok"),
  };
}

/** The score of each of the last weeks, oldest first, this one's from its own evidence; null for a week without one. */
export function scoreHistory(
  { scores }: HistoryRows,
  { start }: WindowBounds,
  score: number | null,
): ScoreHistory {
  const monday = localDate(Temporal.Instant.from(start)).toString();
  const before = scores.map((past) => ({ week: past.week, score: readable(scoreSchema, past.score) }));
  return [...before, { week: monday, score }];
}

function readable<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T | null {
  const result = v.safeParse(schema, value);
  return result.success ? result.output : null;
}
