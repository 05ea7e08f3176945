/** What holds of every weekly e-mail, whatever its payload. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { sentenceKey } from "../../../lib/weekly/email/readings.ts";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import { emailView } from "../../../lib/weekly/email/view.ts";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { metricValue } from "../../../lib/weekly/texts/metric-text.ts";
import { available, EMAIL_METRICS, emailOf, PAYLOADS, payloadOf } from "../../fixtures/payloads.ts";
import { derivableNumbers, numbersIn } from "../support/derivable-numbers.ts";
import { hostilePayloads } from "../support/hostile-payloads.ts";
import { visibleText } from "../support/well-formed.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com" };
const MAX_HTML_BYTES = 90_000;

const view = (payload: Payload) => emailView(payload, OPTIONS);
const figuresOf = (payload: Payload) => view(payload).cards.flatMap(({ main, small }) => [...main, ...small]);

const counts = fc.oneof(
  fc.nat(2_000_000),
  fc.nat(5_000).map((hundredths) => hundredths / 100),
);
const rates = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.double({ min: 1, max: 100, noNaN: true }),
);

/** Figures of one week as applications write them: some missing, some absent, rates in two units. */
const figures: fc.Arbitrary<Record<string, number | null>> = fc
  .record(
    {
      ...Object.fromEntries(
        ["followers", "reach", "story_replies", "posts"].map((name) => [name, fc.option(counts)]),
      ),
      ...Object.fromEntries(["engagement_rate", "ctr"].map((name) => [name, fc.option(rates)])),
    },
    { requiredKeys: [] },
  )
  .map((metrics) => metrics as Record<string, number | null>);

const scores = fc.option(fc.integer({ min: 0, max: 100 }));

/** Reports that know the week before. */
const compared: fc.Arbitrary<Payload> = fc
  .record({
    score: scores,
    previousScore: scores,
    history: fc.array(scores, { minLength: 8, maxLength: 8 }),
    instagram: fc.tuple(figures, fc.option(figures)),
    linkedin: fc.tuple(figures, fc.option(figures)),
    email: fc.record({ openRate: fc.double({ min: 0, max: 1, noNaN: true }), sends: fc.nat(5_000) }),
  })
  .map(({ score, previousScore, history, instagram, linkedin, email }) =>
    payloadOf({
      score,
      previousScore,
      channels: {
        email: { ...emailOf(EMAIL_METRICS), previous: { ...EMAIL_METRICS, ...email } },
        instagram: { ...available(instagram[0], []), previous: instagram[1] },
        linkedin: { ...available(linkedin[0], []), previous: linkedin[1] },
      },
      since: {
        tenantName: "Padaria",
        previousReportId: "3d2c1b0a-9f8e-4d7c-8b6a-5e4f3a2b1c0d",
        scoreHistory: history.map((value, i) => ({ week: `2026-0${i + 1}-05`, score: value })),
      },
    }),
  );

/** Numbers that the e-mail says by itself: its steps' places, and how many more there are in the report. */
const OWN_NUMBERS = /^\d$/;

describe("a weekly e-mail", () => {
  test("says a change exactly where both weeks have the figure", () => {
    fc.assert(
      fc.property(compared, (payload) => {
        for (const { key, value, now, before, change } of figuresOf(payload)) {
          const hasBoth = now !== null && before !== null;
          // Two rates whose units cannot be told are the one exception, and only among rates.
          if (!hasBoth) expect(change === null || change.trend === "unknown").toBe(true);
          else if (change!.trend === "unknown") expect(Math.min(now, before)).toBeLessThanOrEqual(1);
          if (hasBoth && change!.trend === "flat") expect(metricValue(key, before)).toBe(value!);
          if (hasBoth && change!.trend === "up" && Math.max(now, before) <= 1)
            expect(now).toBeGreaterThan(before);
        }
      }),
    );
  });

  test("says in both parts, for each figure, the same change", () => {
    for (const payload of Object.values(PAYLOADS)) {
      const { html, text } = renderEmail(payload, OPTIONS);
      const visible = visibleText(html);
      for (const { label, value, change } of figuresOf(payload)) {
        expect(text).toContain(
          change === null ? `- ${label}: ${value}` : `- ${label}: ${value} (${change.text}`,
        );
        if (change !== null) expect(visible).toContain(change.text);
      }
    }
  });

  test.each(Object.keys(PAYLOADS).filter((name) => !["huge", "hostile"].includes(name)))(
    "of the report %s says no number that does not follow from its payload",
    (name) => {
      const payload = PAYLOADS[name]!;
      const known = derivableNumbers(payload);
      const { html, text } = renderEmail(payload, OPTIONS);
      const apart = html.replaceAll("&#847;", "").replaceAll(/<\/(td|th|p|h\d)>/g, " </$1>");
      for (const part of [visibleText(apart), text.replaceAll(/https:\S+/g, "")]) {
        const strange = numbersIn(part).filter((number) => !known.has(number) && !OWN_NUMBERS.test(number));
        expect(strange).toEqual([]);
      }
    },
  );

  test("says no number that does not follow from the figures of both weeks", () => {
    fc.assert(
      fc.property(compared, (payload) => {
        const known = derivableNumbers(payload);
        const text = renderEmail(payload, OPTIONS).text.replaceAll(/https:\S+/g, "");
        const strange = numbersIn(text).filter((number) => !known.has(number) && !OWN_NUMBERS.test(number));
        expect(strange).toEqual([]);
      }),
    );
  });

  test("says each sentence of the reading once", () => {
    fc.assert(
      fc.property(hostilePayloads, (payload) => {
        const { highlights, readings } = view(payload);
        const sentences = [
          ...highlights.map(({ text }) => text),
          ...readings.groups.flatMap(({ items }) => items),
        ];
        expect(new Set(sentences.map(sentenceKey)).size).toBe(sentences.length);
      }),
      { numRuns: 200 },
    );
  });

  test("stays below what mail clients clip", () => {
    fc.assert(
      fc.property(hostilePayloads, (payload) => {
        expect(Buffer.byteLength(renderEmail(payload, OPTIONS).html)).toBeLessThan(MAX_HTML_BYTES);
      }),
    );
  });

  test("shows at most three large figures a card, each known, and no figure twice", () => {
    fc.assert(
      fc.property(hostilePayloads, (payload) => {
        for (const { main, small } of view(payload).cards) {
          expect(main.length).toBeLessThanOrEqual(3);
          expect([...main, ...small].every(({ value }) => value !== null)).toBe(true);
          expect(new Set([...main, ...small]).size).toBe(main.length + small.length);
        }
      }),
    );
  });
});
