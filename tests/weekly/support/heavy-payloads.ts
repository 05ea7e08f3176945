import fc from "fast-check";
import { CHANNELS, type Payload, type PlainChannel } from "../../../lib/weekly/payload.ts";
import { available, payloadOf, unavailable } from "../../fixtures/payloads.ts";

/** Characters that take many bytes in markup: escaped ones, those of three and four bytes, and marks on a letter. */
const HEAVY = ['"', "&", "<", ">", "'", "漢", "𠀀", "👩‍👩‍👧‍👦", "é\u0301\u0302", "\u200D", '"&<> '];

/** Figures that are long to read, and how they change. */
const NUMBERS = [-9_999_999_999_999, -1.23e300, 1.5e-300, 9_999_999_999.99, 0, 3];

/** Names that have rates and trouble among them, so that no rule leaves them out. */
const KEYS = ["sends", "openRate", "engagement_rate", "bounced", "complained", "reach", "followers", "likes"];

/** Longer than any place shows. */
const LONG_UNITS = 400;

const heavyText = fc
  .array(fc.constantFrom(...HEAVY), { minLength: 1, maxLength: 3 })
  .map((units) => units.join("").repeat(LONG_UNITS));

const figure = fc.option(fc.constantFrom(...NUMBERS), { freq: 8 });

const figures = fc
  .tuple(heavyText, fc.array(fc.tuple(figure, figure), { minLength: 14, maxLength: 40 }), fc.boolean())
  .map(([name, pairs, isKnown]) => {
    const keyOf = (i: number) => (isKnown && i < KEYS.length ? KEYS[i]! : `${i} ${name}`);
    const week = (side: 0 | 1) => Object.fromEntries(pairs.map((pair, i) => [keyOf(i), pair[side]]));
    return { metrics: week(0), previous: week(1) };
  });

const channel: fc.Arbitrary<PlainChannel> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ shown: figures, text: heavyText, findings: fc.nat(12), reason: fc.option(heavyText) })
      .map(({ shown: { metrics, previous }, text, findings, reason }) => ({
        ...available(metrics, distinct(text, findings), {
          coverageStatus: reason === null ? "complete" : "partial",
          reason,
        }),
        previous,
      })),
  },
  { weight: 1, arbitrary: heavyText.map(unavailable) },
);

/** Texts that differ in a number at their beginning, so that none is left out for being there already. */
function distinct(text: string, count: number): string[] {
  const first = Math.abs(hash(text));
  return Array.from({ length: count }, (_, i) => `${first}${i} ${text}`);
}

function hash(text: string): number {
  return [...text.slice(0, 50)].reduce((sum, unit) => (sum * 31 + unit.codePointAt(0)!) | 0, 7);
}

/** Payloads of five channels whose every list and text is longer than it is shown, in the heaviest characters. */
export const heavyPayloads: fc.Arbitrary<Payload> = fc
  .record({
    channels: fc.tuple(...CHANNELS.map(() => channel)),
    name: heavyText,
    label: heavyText,
    steps: fc.nat(8),
    score: fc.option(fc.integer({ min: 0, max: 100 })),
  })
  .map(({ channels, name, label, steps, score }) => heavyPayload(channels, { name, label, steps, score }));

/** The same with one character in every place. */
export function payloadFullOf(character: string): Payload {
  const text = character.repeat(LONG_UNITS);
  const week = (value: number) =>
    Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [`${i} ${text}`, i < 30 ? value - i / 100 : null]),
    );
  const channels = CHANNELS.map((name) => ({
    ...available(week(-9_999_999_999.77), distinct(name + text, 12), {
      coverageStatus: "partial",
      reason: text,
    }),
    previous: week(9_999_999_999.55),
  }));
  return heavyPayload(channels, { name: text, label: text, steps: 8, score: 99 });
}

type Rest = { name: string; label: string; steps: number; score: number | null };

function heavyPayload(channels: readonly PlainChannel[], { name, label, steps, score }: Rest): Payload {
  const entries = CHANNELS.map((channelName, i) => [channelName, channels[i]!] as const);
  const action = { code: "x", channel: "email" as const, label, path: `/${"&".repeat(299)}` };
  const payload = payloadOf({
    score,
    previousScore: score === null ? null : 100 - score,
    channels: Object.fromEntries(entries) as Partial<Payload["channels"]>,
    since: {
      tenantName: name,
      previousReportId: "3d2c1b0a-9f8e-4d7c-8b6a-5e4f3a2b1c0d",
      scoreHistory: Array.from({ length: 8 }, () => ({ week: "2026-11-16", score: 100 })),
    },
  });
  return { ...payload, activationActions: Array<typeof action>(steps).fill(action) };
}
