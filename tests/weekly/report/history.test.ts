import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HistoryRows } from "../../../lib/weekly/database/evidence.ts";
import { CHANNELS, type ChannelName, SCORE_WEEKS } from "../../../lib/weekly/payload.ts";
import {
  previousMetrics as metricsBefore,
  previousPartialChannels,
  type ShownConnections,
  scoreHistory,
} from "../../../lib/weekly/report/history.ts";
import { WEEK } from "../../support/seed.ts";

const REPORT = "6b0f8f7e-3f0a-4b0e-9d53-0a6f1f1f6a10";
const CONNECTION = "0d9a6c2e-51b7-4f0e-8a34-7c1b2d3e4f50";
const OTHER_CONNECTION = "1e8b7d3f-62c8-4a1f-9b45-8d2c3e4f5a61";
const ONE_EACH = { instagram: CONNECTION, linkedin: CONNECTION };
const NONE = { email: null, instagram: null, linkedin: null, blog: null, tiktok: null };

function rows(
  metrics: Record<string, unknown> | null,
  scores: unknown[] = [],
  connections: Record<string, unknown> = ONE_EACH,
): HistoryRows {
  const before = scores.map((score, i) => ({ week: `2026-10-${String(10 + i)}`, score }));
  const previous = metrics === null ? null : { reportId: REPORT, metrics, partial: [], connections };
  return { scores: before, previous };
}

const previousMetrics = (history: HistoryRows, shown: ShownConnections = ONE_EACH) =>
  metricsBefore(history, shown);

describe("previousMetrics()", () => {
  test("has none without a report of the week before", () => {
    expect(previousMetrics(rows(null))).toEqual(NONE);
    expect(previousMetrics(rows({}))).toEqual(NONE);
  });

  test("keeps absence inside a channel, and what has been reached in that of e-mails alone", () => {
    const email = { sends: 3, openRate: null, reached: { delivered: 3, opened: null, clicked: 0 } };
    expect(previousMetrics(rows({ email, linkedin: { reach: 0, followers: null } }))).toEqual({
      ...NONE,
      email,
      linkedin: { reach: 0, followers: null },
    });
    expect(previousMetrics(rows({ linkedin: email }))).toEqual(NONE);
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["a text", "12"],
    ["a list", [1, 2]],
    ["a figure as text", { reach: "12" }],
    ["a figure that is not finite", { reach: Number.POSITIVE_INFINITY }],
    ["a switch", { reach: true }],
    ["figures within figures", { reach: { organic: 1 } }],
  ])("takes metrics that are %s for absence, of that channel alone", (_what, metrics) => {
    const good = { reach: 7 };
    expect(previousMetrics(rows({ instagram: metrics, linkedin: good }))).toEqual({
      ...NONE,
      linkedin: good,
    });
    expect(previousMetrics(rows({ email: metrics, linkedin: good })).email).toBeNull();
  });

  test.each<[string, Record<string, unknown>]>([
    ["another connection", { ...ONE_EACH, instagram: OTHER_CONNECTION }],
    ["a connection that is not known", { linkedin: CONNECTION }],
    ["a connection that is null", { ...ONE_EACH, instagram: null }],
  ])("has no figures of %s than this week's, of that network alone", (_what, connections) => {
    const figures = { followers: 900 };
    const stored = { email: { sends: 2 }, instagram: figures, linkedin: figures };
    expect(previousMetrics(rows(stored, [], connections))).toEqual({
      ...NONE,
      email: { sends: 2 },
      linkedin: figures,
    });
  });

  test("keeps the figures of a network that this week shows nothing of", () => {
    const history = rows({ instagram: { followers: 900 } }, [], { instagram: OTHER_CONNECTION });
    const shown = { instagram: null, linkedin: null };
    expect(previousMetrics(history, shown)).toEqual({ ...NONE, instagram: { followers: 900 } });
  });

  test("has a channel exactly where the report has it, and then the very same figures", () => {
    const figure = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }));
    // Names of figures; those that a JavaScript object has by itself are dropped from every payload.
    const key = fc.string().filter((name) => !["__proto__", "prototype", "constructor"].includes(name));
    const metrics = fc.dictionary(key, figure, { noNullPrototype: true });
    const report = fc.dictionary(fc.constantFrom(...CHANNELS), metrics, { noNullPrototype: true });
    fc.assert(
      fc.property(fc.option(report), (stored) => {
        const previous = previousMetrics(rows(stored));
        for (const name of CHANNELS)
          expect(previous[name as ChannelName]).toEqual((stored?.[name] as never) ?? null);
      }),
    );
  });
});

describe("previousPartialChannels()", () => {
  test("are named in the order of the e-mail, and are none without a report of the week before", () => {
    const previous = {
      reportId: REPORT,
      metrics: {},
      partial: ["linkedin", "mail", "email"],
      connections: {},
    };
    expect(previousPartialChannels({ scores: [], previous })).toEqual(["email", "linkedin"]);
    expect(previousPartialChannels(rows(null))).toEqual([]);
  });
});

describe("scoreHistory()", () => {
  const seven = [0, 61.25, null, 100, null, 1, 50];

  test("ends with this week, whose score is its own evidence's", () => {
    const history = scoreHistory(rows(null, seven), WEEK, 73);
    expect(history).toHaveLength(SCORE_WEEKS);
    expect(history.map(({ score }) => score)).toEqual([...seven, 73]);
    expect(history.at(-1)).toEqual({ week: "2026-11-16", score: 73 });
  });

  test("takes this week's absence for what it is", () => {
    expect(scoreHistory(rows(null, seven), WEEK, null).at(-1)!.score).toBeNull();
    expect(scoreHistory(rows(null, seven), WEEK, 0).at(-1)!.score).toBe(0);
  });

  test("takes a stored score that is none for absence", () => {
    const none = ["73", true, {}, [], -0.01, 100.01, Number.NaN, Number.POSITIVE_INFINITY, undefined];
    const read = scoreHistory(rows(null, none), WEEK, 1).slice(0, -1);
    expect(read.map(({ score }) => score)).toEqual(none.map(() => null));
  });
});
