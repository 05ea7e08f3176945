import * as v from "valibot";

/** The channels of payload V1, in the order of the e-mail and of `missingChannels`. */
export const CHANNELS = ["email", "instagram", "linkedin", "blog", "tiktok"] as const;

/** One channel of payload V1. */
export type ChannelName = (typeof CHANNELS)[number];

/** Version of the payload contract; part of the report's uniqueness key. */
export const SCHEMA_VERSION = 1;

const uuid = v.pipe(v.string(), v.regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/));
const instant = v.pipe(v.string(), v.isoTimestamp(), v.endsWith("Z"));
const finite = v.pipe(v.number(), v.finite());
/** A score of the account; null is absence. */
export const scoreSchema = v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(100)));

/** Figures by name, null for absence. A list is refused, which `v.record` alone would take. */
export const metricsSchema = v.pipe(
  v.custom<object>((value) => !Array.isArray(value)),
  v.record(v.string(), v.nullable(finite)),
);

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const reachedSchema = v.strictObject({
  delivered: v.nullable(count),
  opened: v.nullable(count),
  clicked: v.nullable(count),
});

/** The figures of the e-mail channel: those of `metricsSchema`, and `reached` beside them in reports that have it. */
export const emailMetricsSchema = v.pipe(
  v.custom<object>((value) => !Array.isArray(value)),
  v.record(v.string(), v.union([v.nullable(finite), reachedSchema])),
  v.check(
    (metrics) => Object.entries(metrics).every(([key, value]) => !isReached(value) || key === "reached"),
    "only `reached` holds more than one figure",
  ),
);

function isReached(value: unknown): value is Reached {
  return typeof value === "object" && value !== null;
}

const insightSchema = v.strictObject({
  code: v.string(),
  text: v.string(),
  metric: v.optional(v.string()),
  value: v.optional(v.nullable(finite)),
  previous: v.optional(v.nullable(finite)),
});

const evidenceSchema = v.strictObject({
  sourceTable: v.string(),
  rowId: v.nullable(uuid),
  rangeStart: instant,
  rangeEnd: instant,
  count: v.nullable(count),
  items: v.array(v.unknown()),
});

const channelEntries = {
  status: v.picklist(["available", "unavailable"]),
  coverageStatus: v.picklist(["complete", "partial", "unavailable"]),
  reason: v.nullable(v.string()),
  insights: v.array(insightSchema),
  evidence: v.array(evidenceSchema),
};

/** How many weeks of the score a report tells, its own included. */
export const SCORE_WEEKS = 8;

const scoreHistorySchema = v.pipe(
  v.array(v.strictObject({ week: v.pipe(v.string(), v.isoDate()), score: scoreSchema })),
  v.length(SCORE_WEEKS),
);

const INCONSISTENT = "an unavailable channel has a reason and no metrics, an available one has metrics";

const channelSchema = v.pipe(
  v.strictObject({
    ...channelEntries,
    metrics: v.nullable(metricsSchema),
    previous: v.optional(v.nullable(metricsSchema)),
  }),
  v.check((channel) => isConsistent(channel), INCONSISTENT),
);

const emailChannelSchema = v.pipe(
  v.strictObject({
    ...channelEntries,
    metrics: v.nullable(emailMetricsSchema),
    previous: v.optional(v.nullable(emailMetricsSchema)),
  }),
  v.check((channel) => isConsistent(channel), INCONSISTENT),
);

function isConsistent(channel: {
  status: string;
  coverageStatus: string;
  reason: string | null;
  metrics: object | null;
}): boolean {
  return channel.status === "available"
    ? channel.coverageStatus !== "unavailable" && channel.metrics !== null
    : channel.coverageStatus === "unavailable" && channel.metrics === null && channel.reason !== null;
}

const sourceSchema = v.strictObject({
  channel: v.picklist(CHANNELS),
  connectionId: v.optional(uuid),
  status: v.picklist(["ok", "failed", "missing", "not_integrated"]),
  code: v.optional(v.string()),
  analysisId: v.optional(uuid),
  updatedAt: v.optional(instant),
});

/**
 * Payload V1, the canonical report of one tenant owner and one closed week.
 *
 * Shape:  the twelve top-level keys and nothing else; additions go under `provenance`, those about e-mails under
 *         `channels.email.metrics.reached`. A channel's `previous` holds its `metrics` of the report that
 *         `provenance.previousReportId` names, which is the owner's of the week before; null where there is none, or
 *         where those of a network are of another connection than this week's; `provenance.previousPartialChannels`
 *         names the channels whose data was partial in it. `provenance.scoreHistory` has an entry for each of the last
 *         weeks, oldest first, `week` being its Monday. Older payloads lack what was added.
 * Units:  instants are UTC ISO 8601 with `Z`; rates are fractions 0 to 1; scores 0 to 100.
 * Errors: a payload that does not fit is never persisted (`report_persist_failed`).
 * Source: weekly report document, Payload V1.
 */
export const payloadSchema = v.strictObject({
  schemaVersion: v.literal(SCHEMA_VERSION),
  tenantId: uuid,
  userId: uuid,
  windowStart: instant,
  windowEnd: instant,
  generatedAt: instant,
  coverageStatus: v.picklist(["complete", "partial"]),
  accountScore: v.strictObject({
    score: scoreSchema,
    previousScore: scoreSchema,
    delta: v.nullable(finite),
    sourceId: v.nullable(uuid),
  }),
  channels: v.strictObject({
    email: emailChannelSchema,
    instagram: channelSchema,
    linkedin: channelSchema,
    blog: channelSchema,
    tiktok: channelSchema,
  }),
  missingChannels: v.array(v.picklist(CHANNELS)),
  activationActions: v.array(
    v.strictObject({ code: v.string(), channel: v.picklist(CHANNELS), label: v.string(), path: v.string() }),
  ),
  provenance: v.strictObject({
    fingerprint: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    sources: v.array(sourceSchema),
    analysisTriggers: v.array(v.unknown()),
    worker: v.strictObject({ version: v.string() }),
    tenantName: v.optional(v.nullable(v.string())),
    scoreHistory: v.optional(scoreHistorySchema),
    previousReportId: v.optional(v.nullable(uuid)),
    previousPartialChannels: v.optional(v.array(v.picklist(CHANNELS))),
  }),
});

/** A report as it is stored, sent and rendered. */
export type Payload = v.InferOutput<typeof payloadSchema>;

/** One channel's entry in the payload. */
export type Channel = Payload["channels"][ChannelName];

/** An entry whose figures are all single numbers; the e-mail channel's may hold `reached` too. */
export type PlainChannel = Payload["channels"]["instagram"];

/** How many e-mails have reached each stage inside the week, whatever came after it; clicked ⊂ opened ⊂ delivered. */
export type Reached = v.InferOutput<typeof reachedSchema>;

/** A channel without data, and why. */
export function unavailableChannel(reason: string): PlainChannel {
  return {
    status: "unavailable",
    coverageStatus: "unavailable",
    reason,
    metrics: null,
    insights: [],
    evidence: [],
  };
}

/** One finding about a channel, worded for the owner. */
export type Insight = v.InferOutput<typeof insightSchema>;

/** Where one value of the payload came from. */
export type Source = v.InferOutput<typeof sourceSchema>;

/** A step that would give the owner a fuller report. */
export type ActivationAction = Payload["activationActions"][number];
