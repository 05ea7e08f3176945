import * as v from "valibot";
import type { WeekBounds } from "../../ledger/week-state.ts";
import { localDate } from "../../time/local-date.ts";
import { Temporal } from "../../time/temporal.ts";
import type { HistoryRows } from "../database/evidence.ts";
import type { Connection } from "../database/reports.ts";
import {
  CHANNELS,
  type ChannelName,
  emailMetricsSchema,
  metricsSchema,
  type Payload,
  scoreSchema,
} from "../payload.ts";

/** Each channel's figures of the week before; null where its report has none. */
export type PreviousMetrics = { [N in ChannelName]: NonNullable<Payload["channels"][N]["previous"]> | null };

type SocialNetwork = Connection["network"];

/** The scores of a report's weeks. */
export type ScoreHistory = NonNullable<Payload["provenance"]["scoreHistory"]>;

/** The connection whose analysis each network of this week's report shows; null where it shows none. */
export type ShownConnections = Record<SocialNetwork, string | null>;

/**
 * The figures that the report of the week before has of each channel.
 *
 * Behaviour: figures that do not fit the payload are absence: an older report never stops a new one. So are those of
 *            another connection than this week's, or of one that is not known: two accounts are not compared.
 */
export function previousMetrics({ previous }: HistoryRows, shown: ShownConnections): PreviousMetrics {
  const plain = (name: ChannelName) => readable(metricsSchema, previous?.metrics[name]);
  const network = (name: SocialNetwork) =>
    shown[name] === null || shown[name] === previous?.connections[name] ? plain(name) : null;
  return {
    email: readable(emailMetricsSchema, previous?.metrics.email),
    instagram: network("instagram"),
    linkedin: network("linkedin"),
    blog: plain("blog"),
    tiktok: plain("tiktok"),
  };
}

/** The channels whose data was partial in the report of the week before. */
export function previousPartialChannels({ previous }: HistoryRows): ChannelName[] {
  return CHANNELS.filter((name) => previous?.partial.includes(name));
}

/** The score of each of the last weeks, oldest first, this one's from its own evidence; null for a week without one. */
export function scoreHistory(
  { scores }: HistoryRows,
  { start }: WeekBounds,
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
