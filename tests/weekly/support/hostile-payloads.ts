import fc from "fast-check";
import { CHANNELS, type Payload, type PlainChannel } from "../../../lib/weekly/payload.ts";
import { available, HOSTILE, payloadOf, unavailable } from "../../fixtures/payloads.ts";

const CODES = [
  "not_connected",
  "analysis_missing",
  "APP_HTTP_500",
  "APP_TIMEOUT",
  "no_sends_in_window",
  "toString",
];

/** Texts as an analysis, a user or an attacker may have left them in the database. */
const hostileTexts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom("<", ">", '"', "'", "&", "\n", "*", "_", "~", "`", "👩‍👩‍👧‍👦", "\u202E", "a", " "),
  }),
  fc.constantFrom(HOSTILE, "", " ", "\u200B", "palavra ".repeat(300)),
  fc.nat(3000).map((length) => "x".repeat(length)),
);

const metrics = fc.dictionary(
  fc.oneof(hostileTexts, fc.constantFrom("reach", "sends", "openRate", "engagement_rate", "constructor")),
  fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  { maxKeys: 20, noNullPrototype: true },
);

const channels: fc.Arbitrary<PlainChannel> = fc.oneof(
  fc.oneof(hostileTexts, fc.constantFrom(...CODES)).map(unavailable),
  fc
    .tuple(metrics, fc.array(hostileTexts, { maxLength: 8 }), fc.option(hostileTexts))
    .map(([figures, texts, reason]) =>
      available(figures, texts, { coverageStatus: reason === null ? "complete" : "partial", reason }),
    ),
);

const reached = fc.record({
  delivered: fc.option(fc.nat()),
  opened: fc.option(fc.nat()),
  clicked: fc.option(fc.nat()),
});

const emailChannels: fc.Arbitrary<Payload["channels"]["email"]> = fc.oneof(
  channels,
  fc
    .tuple(channels, reached)
    .map(([channel, stages]) =>
      channel.metrics === null ? channel : { ...channel, metrics: { ...channel.metrics, reached: stages } },
    ),
);

const scores = fc.option(fc.double({ min: 0, max: 100, noNaN: true }));

const actions = fc.array(
  fc.record({
    code: fc.string(),
    channel: fc.constantFrom(...CHANNELS),
    label: hostileTexts,
    path: fc.oneof(hostileTexts, fc.constantFrom("/app/email", "//evil.example", "javascript:alert(1)")),
  }),
  { maxLength: 9 },
);

/** Payloads that satisfy the schema and nothing else. */
export const hostilePayloads: fc.Arbitrary<Payload> = fc
  .record({
    score: scores,
    previousScore: scores,
    channels: fc.record({
      email: emailChannels,
      instagram: channels,
      linkedin: channels,
      blog: channels,
      tiktok: channels,
    }),
    ownActions: fc.option(actions),
  })
  .map(({ ownActions, ...parts }) => {
    const payload = payloadOf(parts);
    return ownActions === null ? payload : { ...payload, activationActions: ownActions };
  });
