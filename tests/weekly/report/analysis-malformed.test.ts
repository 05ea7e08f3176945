import { describe, expect, test } from "bun:test";
import type { AnalysisBody } from "../../standins/application.ts";
import { type SeededOwner, seedOwner, writeAnalysis } from "../../support/seed.ts";
import { storedReport } from "../support/stored-report.ts";
import { recordingLog, weeklyFixture } from "../support/weekly-fixture.ts";

/** What an analysis row may hold, as JSON text where JavaScript could not say it. */
type Content = {
  coverage?: string;
  metrics?: string;
  insights?: string;
  evidence?: string;
  triggers?: string;
};

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const LONG = "á".repeat(500_000);
const MANY = JSON.stringify(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`m${i}`, i])));

const MALFORMED: Record<string, Content> = {
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
  "a coverage that nobody knows": { coverage: "full" },
  "a coverage in capitals": { coverage: "Complete" },
};

const READABLE: Record<string, { content: Content; metrics: object; insights?: object[] }> = {
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

/** A run of one owner with an Instagram connection for each content, which the application writes as it is told. */
async function runWith(contents: Record<string, Content>) {
  const weekly = await weeklyFixture();
  const { db } = weekly;
  const owners: (SeededOwner & { name: string; content: Content })[] = [];
  // One healthy call says that the application works.
  const healthy = await seedOwner(db.sql, { tenantId: HEALTHY, networks: ["instagram"], sends: [] });
  for (const name of Object.keys(contents)) {
    const owner = await seedOwner(db.sql, { networks: ["instagram"], sends: [] });
    owners.push({ ...owner, name, content: contents[name]! });
  }
  weekly.onAnalyze = (body: AnalysisBody) =>
    write(body, owners.find(({ userId }) => userId === body.userId)?.content ?? {});
  const { sql } = db;
  const write = async (body: AnalysisBody, content: Content) => {
    await sql`
      insert into social_channel_analyses
        (tenant_id, user_id, connection_id, channel, window_start, window_end, coverage_status, metrics, insights,
         evidence, triggers)
      values (${body.tenantId}, ${body.userId}, ${body.connectionId}, 'instagram', ${body.windowStart},
              ${body.windowEnd}, ${content.coverage ?? "complete"},
              ${content.metrics ?? '{"reach": 5400}'}::text::jsonb, ${content.insights ?? "[]"}::text::jsonb,
              ${content.evidence ?? "[]"}::text::jsonb, ${content.triggers ?? "[]"}::text::jsonb)`;
  };
  const summary = await weekly.run();
  const reports = new Map<string, Awaited<ReturnType<typeof storedReport>>>();
  for (const owner of owners) reports.set(owner.name, await storedReport(sql, owner));
  return { weekly, summary, reports, all: [healthy, ...owners].length };
}

/** The first tenant in key order. */
const HEALTHY = "00000000-0000-4000-8000-000000000001";

describe("an analysis that is not what the application promised", () => {
  test("makes its channel unavailable, and nothing else", async () => {
    const { weekly, summary, reports, all } = await runWith(MALFORMED);
    await using _ = weekly;
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: all, failed: 0 },
      whatsapp: { sent: all },
      email: { sent: all },
      failures: [],
    });
    const channels = Object.fromEntries(
      [...reports].map(([name, { payload }]) => {
        const { status, coverageStatus, reason, metrics } = payload.channels.instagram;
        const source = payload.provenance.sources.find(({ channel }) => channel === "instagram")!;
        const sourceSays: unknown[] = [source.status, source.code];
        return [name, { status, coverageStatus, reason, metrics, source: sourceSays } as unknown];
      }),
    );
    const unavailable = {
      status: "unavailable",
      coverageStatus: "unavailable",
      reason: "analysis_malformed",
      metrics: null,
      source: ["missing", "analysis_malformed"] as unknown[],
    };
    expect(channels).toEqual(
      Object.fromEntries(Object.keys(MALFORMED).map((name) => [name, unavailable as unknown])),
    );
  });
});

describe("an analysis that is odd and still one", () => {
  test("is repeated, and its report can be sent", async () => {
    const contents = Object.fromEntries(
      Object.entries(READABLE).map(([name, { content }]) => [name, content]),
    );
    const { weekly, summary, reports, all } = await runWith(contents);
    await using _ = weekly;
    expect(summary).toMatchObject({ status: "success", failures: [] });
    for (const [name, { metrics, insights }] of Object.entries(READABLE)) {
      const { status, metrics: stored, insights: told } = reports.get(name)!.payload.channels.instagram;
      if (insights !== undefined) expect([name, told]).toEqual([name, insights as typeof told]);
      expect([name, status, stored]).toEqual([name, "available", metrics as Record<string, number>]);
    }
    expect(weekly.gateway.accepted.every(({ text }) => text.length <= 900)).toBe(true);
    expect(weekly.email.accepted).toHaveLength(all);
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

test.each(["'infinity'", "'-infinity'", "'294276-01-01Z'", "'4000-01-01Z BC'", "null"])(
  "an analysis of the time %s is shown, and its source names no time",
  async (time) => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await sql`alter table social_channel_analyses alter column updated_at drop not null`;
    const owner = await seedOwner(sql, { networks: ["instagram", "instagram"] });
    const [first, second] = owner.connections;
    weekly.onAnalyze = async (body) => {
      const reach = body.connectionId === first!.id ? 1 : 2;
      await writeAnalysis(sql, body, { metrics: { reach } });
      if (reach === 1)
        await sql.unsafe(
          `update social_channel_analyses set updated_at = ${time} where connection_id = '${first!.id}'`,
        );
    };
    expect(await weekly.run()).toMatchObject({ status: "success", failures: [] });
    const { channels, provenance } = (await storedReport(sql, owner)).payload;
    expect(channels.instagram).toMatchObject({ status: "available", metrics: { reach: 2 } });
    const source = (id: string) => provenance.sources.find(({ connectionId }) => connectionId === id);
    expect(source(first!.id)).not.toHaveProperty("updatedAt");
    expect(source(second!.id)).toMatchObject({ status: "ok", updatedAt: expect.any(String) });
  },
);
