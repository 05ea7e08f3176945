import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AnalysisContent, type SeededOwner, seedOwner, writeAnalysis } from "../../support/seed.ts";
import { type Reported, reportsOf } from "../support/reported-owners.ts";
import { storedReport } from "../support/stored-report.ts";
import { recordingLog, type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const LONG = "á".repeat(500_000);
const MANY = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i])));

const MALFORMED: Record<string, AnalysisContent> = {
  "a text for a metric": { metrics: '{"reach": "5400"}' },
  "an object for a metric": { metrics: '{"reach": {"total": 5400}}' },
  "a truth value for a metric": { metrics: '{"reach": true}' },
  "a metric that is not a number": { metrics: '{"reach": "NaN"}' },
  "a metric beyond all numbers": { metrics: '{"reach": 1e400}' },
  "a list of metrics": { metrics: "[1, 2, 3]" },
  "an empty list of metrics": { metrics: "[]" },
  "no metrics but null": { metrics: "null" },
  "a number for the metrics": { metrics: "7" },
  "an object for the insights": { insights: '{"code": "a", "text": "b"}' },
  "a text for the insights": { insights: '"Cresceu"' },
  "null for the insights": { insights: "null" },
  "a text for an insight": { insights: '["Cresceu"]' },
  "an insight without text": { insights: '[{"code": "a"}]' },
  "an insight without code": { insights: '[{"text": "a"}]' },
  "an insight whose text is a number": { insights: '[{"code": "a", "text": 5}]' },
  "an insight whose metric is a number": { insights: '[{"code": "a", "text": "b", "metric": 5}]' },
  "an insight whose value is a text": { insights: '[{"code": "a", "text": "b", "value": "5"}]' },
  "an insight whose value is beyond all numbers": {
    insights: '[{"code": "a", "text": "b", "value": -1e400}]',
  },
  "an object for the evidence": { evidence: '{"posts": 7}' },
  "evidence beyond all numbers": { evidence: '[{"posts": [1e400]}]' },
  "evidence without a bottom": { evidence: nested(9000) },
  "a text for the triggers": { triggers: '"weekly"' },
  "triggers beyond all numbers": { triggers: "[1e999]" },
  "a coverage that nobody knows": { coverageStatus: "full" },
  "a coverage in capitals": { coverageStatus: "Complete" },
};

const READABLE: Record<string, { content: AnalysisContent; metrics: object; insights?: object[] }> = {
  "metrics of null only": { content: { metrics: '{"reach": null}' }, metrics: { reach: null } },
  "an insight whose metric is null": {
    content: { insights: '[{"code": "a", "text": "b", "metric": null, "value": 5}]' },
    metrics: { reach: 5400 },
    insights: [{ code: "a", text: "b", value: 5 }],
  },
  "an insight without a value": {
    content: { insights: '[{"code": "a", "text": "b", "metric": "reach"}]' },
    metrics: { reach: 5400 },
    insights: [{ code: "a", text: "b", metric: "reach" }],
  },
  "an insight whose figures are null": {
    content: { insights: '[{"code": "a", "text": "b", "value": null, "previous": null}]' },
    metrics: { reach: 5400 },
    insights: [{ code: "a", text: "b", value: null, previous: null }],
  },
  "insights whose codes nobody knows": {
    content: {
      insights:
        '[{"code": "brand_new", "text": "b"}, {"code": "", "text": "c"}, {"code": null, "text": "d"}]',
    },
    metrics: { reach: 5400 },
    insights: [
      { code: "brand_new", text: "b" },
      { code: "", text: "c" },
      { code: "unknown", text: "d" },
    ],
  },
  "an insight whose text is null": {
    content: { insights: '[{"code": "a", "text": null}, {"code": "b", "text": "c"}]' },
    metrics: { reach: 5400 },
    insights: [{ code: "b", text: "c" }],
  },
  "no metric at all": { content: { metrics: "{}" }, metrics: {} },
  "keys with a meaning of their own": {
    content: {
      metrics: '{"__proto__": 1, "toString": 2, "hasOwnProperty": 3, "10": 4, "reach": 5}',
      evidence: '[{"__proto__": {"admin": true}, "constructor": 1}]',
      triggers: '[{"__proto__": null}]',
    },
    // biome-ignore format: `__proto__` and its like are no names of figures
    metrics: { toString: 2, hasOwnProperty: 3, "10": 4, reach: 5 },
  },
  "a text of a megabyte": {
    content: { insights: JSON.stringify([{ code: "long", text: LONG }]), triggers: JSON.stringify([LONG]) },
    metrics: { reach: 5400 },
  },
  "a hundred thousand metrics": { content: { metrics: MANY }, metrics: JSON.parse(MANY) },
  "numbers at the ends": {
    content: {
      metrics: '{"a": 1e21, "b": 1e-7, "c": -0, "d": 5e-324, "e": 1.7976931348623157e308, "f": 0.1}',
    },
    metrics: { a: 1e21, b: 1e-7, c: 0, d: 5e-324, e: Number.MAX_VALUE, f: 0.1 },
  },
  "keys that nobody promised": {
    content: { insights: '[{"code": "a", "text": "b", "html": "<b>b</b>", "value": null}]' },
    metrics: { reach: 5400 },
  },
};

const UNAVAILABLE = {
  ...{ status: "unavailable", coverageStatus: "unavailable", reason: "analysis_malformed" },
  metrics: null,
};

describe("an analysis", () => {
  let weekly: WeeklyFixture;
  let reports: Record<string, Reported>;
  beforeAll(async () => {
    weekly = await weeklyFixture();
    const contents = Object.entries(READABLE).map(([name, { content }]) => [name, content] as const);
    const cases = [...Object.entries(MALFORMED), ...contents].map(
      ([name, content]) => [name, { analyses: [content] }] as const,
    );
    reports = await reportsOf(Object.fromEntries(cases), weekly);
  });
  afterAll(() => weekly[Symbol.asyncDispose]());

  test.each(Object.keys(MALFORMED))(
    "an analysis with %s makes its channel unavailable, and nothing else",
    (name) => {
      const { channels, provenance } = reports[name]!.payload;
      expect(channels.instagram).toMatchObject(UNAVAILABLE);
      const source = provenance.sources.find(({ channel }) => channel === "instagram")!;
      expect(source).toMatchObject({ status: "missing", code: "analysis_malformed" });
    },
  );

  test.each(Object.entries(READABLE))("an analysis with %s is repeated", (name, { metrics, insights }) => {
    const { instagram } = reports[name]!.payload.channels;
    expect(instagram.status).toBe("available");
    expect(instagram.metrics).toEqual(metrics as Record<string, number>);
    if (insights !== undefined) expect(instagram.insights).toEqual(insights as typeof instagram.insights);
  });

  test("an analysis of whatever content leaves a report that can be sent", async () => {
    const all = Object.keys(reports).length + 1;
    expect(await weekly.run()).toMatchObject({
      ...{ status: "success", failures: [], reports: { reused: all } },
      ...{ whatsapp: { sent: all }, email: { sent: all } },
    });
    expect(weekly.gateway.accepted.every(({ text }) => text.length <= 900)).toBe(true);
    // Small enough for a mail client to show it whole.
    const sizes = weekly.email.accepted.map(({ html, text }) => html!.length + text!.length);
    expect(Math.max(...sizes)).toBeLessThan(200_000);
  });
});

test.each([
  [100.01, null, ["score_out_of_range"]],
  [-1, null, ["score_out_of_range"]],
  [100, 100, []],
  [0, 0, []],
  [null, null, []],
])(
  "a score of %p is %p in the report, and the log says where that is not the same",
  async (score, shown, codes) => {
    await using weekly = await weeklyFixture();
    const owner = await seedOwner(weekly.db.sql, { networks: ["instagram"] });
    weekly.onAnalyze = (body) => writeAnalysis(weekly.db.sql, body, { score });
    const log = recordingLog();
    expect(await weekly.run({}, { log })).toMatchObject({ status: "success", failures: [] });
    const { id, payload } = await storedReport(weekly.db.sql, owner);
    expect(payload.accountScore).toMatchObject({ score: shown, sourceId: expect.any(String) });
    const line = shown === null ? "Ainda não há histórico suficiente para o score geral" : `: ${shown}/100`;
    expect(weekly.gateway.accepted[0]!.text).toContain(line);
    expect(log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields)).toEqual(
      codes.map((code) => ({ code, tenantId: owner.tenantId, reportId: id })),
    );
  },
);

test("an analysis of a time that no report can name is shown, and its source names no time", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  await sql`alter table social_channel_analyses alter column updated_at drop not null`;
  const times = ["'infinity'", "'-infinity'", "'294276-01-01Z'", "'1969-12-31T23:59:59.999999Z'", "null"];
  const owners: SeededOwner[] = [];
  for (const _ of times) owners.push(await seedOwner(sql, { networks: ["instagram", "instagram"] }));
  weekly.onAnalyze = async (body) => {
    const at = owners.findIndex(({ connections }) => connections[0]!.id === body.connectionId);
    await writeAnalysis(sql, body, { metrics: { reach: at < 0 ? 2 : 1 } });
    if (at >= 0)
      await sql.unsafe(
        `update social_channel_analyses set updated_at = ${times[at]} where connection_id = '${body.connectionId}'`,
      );
  };
  expect(await weekly.run()).toMatchObject({ status: "success", failures: [] });
  for (const owner of owners) {
    const { channels, provenance } = (await storedReport(sql, owner)).payload;
    expect(channels.instagram).toMatchObject({ status: "available", metrics: { reach: 2 } });
    const source = (at: number) =>
      provenance.sources.find(({ connectionId }) => connectionId === owner.connections[at]!.id);
    expect(source(0)).not.toHaveProperty("updatedAt");
    expect(source(1)).toMatchObject({ status: "ok", updatedAt: expect.any(String) });
  }
});
