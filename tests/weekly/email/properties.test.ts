/** What holds of every weekly e-mail, whatever its payload. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderEmail } from "../../../lib/weekly/email/render.ts";
import type { Channel, ChannelName, Payload } from "../../../lib/weekly/payload.ts";
import { isRate, metricName, metricValue } from "../../../lib/weekly/texts/metric-text.ts";
import {
  available,
  EMAIL_METRICS,
  type EmailMetrics,
  emailOf,
  PAYLOADS,
  payloadOf,
} from "../../fixtures/payloads.ts";
import { type DerivableNumbers, derivableNumbers, numbersIn } from "../support/derivable-numbers.ts";
import { type EmailPiece, htmlPieces, textPieces } from "../support/email-sections.ts";

const OPTIONS = { appBaseUrl: "https://app.example.com" };

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

/** The numbers of a rendered part that follow from nothing that its piece is about. */
function strangeNumbers(pieces: readonly EmailPiece[], known: DerivableNumbers): string[] {
  return pieces.flatMap(({ about, text }) => {
    const sets = about.length === 0 ? [known.frame] : about.map((channel) => known[channel]);
    return numbersIn(text).filter((number) => !sets.some((set) => set.has(number)));
  });
}

/** What a card should say of a figure's week before. */
type Expected = { value: string; change: RegExp | null };

/** What a channel's card should say, by the name of the figure, read from the payload alone. */
function expectedFigures(name: ChannelName, { metrics, previous }: Channel): Map<string, Expected> {
  const [now, before] = [plain(metrics ?? {}), plain(previous ?? {})];
  const isCompared = Object.values(before).some((value) => value !== null);
  const known = Object.entries(now).flatMap(([key, value]) =>
    value === null ? [] : [[key, value] as const],
  );
  return new Map(
    known.map(([key, value]) => [
      metricName(name, key).label,
      {
        value: metricValue(key, value),
        change: isCompared ? expectedChange(key, value, before[key] ?? null) : null,
      },
    ]),
  );
}

function expectedChange(key: string, now: number, before: number | null): RegExp {
  if (before === null) return /^sem comparação$/;
  // Two rates whose units cannot be told are the one pair that is not compared.
  const [small, large] = [Math.min(now, before), Math.max(now, before)];
  if (isRate(key) && small !== 0 && small <= 1 && large > 1) return /^sem comparação$/;
  if (metricValue(key, now) === metricValue(key, before)) return /^igual$/;
  return now > before
    ? /^[\d.,]+( p\.p\.)? a mais(, .*)?$|^menos de 0,1 p\.p\. a mais$/
    : /^[\d.,]+( p\.p\.)? a menos(, .*)?$|^menos de 0,1 p\.p\. a menos$/;
}

/** The figures by name; what was reached stands in the place of the counts of the same words. */
function plain(metrics: NonNullable<Channel["metrics"]>): Record<string, number | null> {
  const { reached, ...rest } = metrics as EmailMetrics;
  if (reached === undefined) return rest;
  const { delivered: _1, opened: _2, clicked: _3, ...others } = rest;
  const { delivered, opened, clicked } = reached;
  return { ...others, reached_delivered: delivered, reached_opened: opened, reached_clicked: clicked };
}

/** The figures that a card of the plain part says. */
function shownFigures(
  text: string,
  name: ChannelName,
): Map<string, { value: string; change: string | null }> {
  const card = textPieces(text).findLast(({ about }) => about.length === 1 && about[0] === name)!;
  const lines = [...card.text.matchAll(/^- ([^:]+): ([^\n(]+?)(?: \((.*)\))?$/gm)];
  return new Map(
    lines.map(([, label, value, change]) => [label!, { value: value!, change: change ?? null }]),
  );
}

describe("a weekly e-mail", () => {
  test("says a change exactly where both weeks of the payload have the figure", () => {
    fc.assert(
      fc.property(compared, (payload) => {
        const { text } = renderEmail(payload, OPTIONS);
        for (const name of ["email", "instagram", "linkedin"] as const) {
          const expected = expectedFigures(name, payload.channels[name]);
          const shown = shownFigures(text, name);
          expect([...shown.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
          for (const [label, { value, change }] of expected) {
            expect(shown.get(label)!.value).toBe(value);
            if (change === null) expect(shown.get(label)!.change).toBeNull();
            else expect(shown.get(label)!.change ?? "no change").toMatch(change);
          }
        }
      }),
    );
  });

  test.each(Object.keys(PAYLOADS).filter((name) => !["huge", "hostile"].includes(name)))(
    "the e-mail of the report %s says no number that does not follow from its payload",
    (name) => {
      const payload = PAYLOADS[name]!;
      const known = derivableNumbers(payload);
      const { html, text } = renderEmail(payload, OPTIONS);
      expect(strangeNumbers(htmlPieces(html), known)).toEqual([]);
      expect(strangeNumbers(textPieces(text), known)).toEqual([]);
    },
  );

  test("says no number that does not follow from the figures of both weeks", () => {
    fc.assert(
      fc.property(compared, (payload) => {
        const { html, text } = renderEmail(payload, OPTIONS);
        const known = derivableNumbers(payload);
        expect(strangeNumbers(htmlPieces(html), known)).toEqual([]);
        expect(strangeNumbers(textPieces(text), known)).toEqual([]);
      }),
    );
  });
});
