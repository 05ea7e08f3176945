/** The social channels and the score of a stored report: which analyses they show, what they say where there is none. */
import { beforeAll, describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { whatsappPlain } from "../../../lib/text/whatsapp-plain.ts";
import { type SeededOwner, seedOwner, WEEK, writeAnalysis } from "../../support/seed.ts";
import { weeksBefore } from "../support/past-report.ts";
import {
  type Analysis,
  type Reported,
  type ReportedOwner,
  reportsOf,
  writeScore,
} from "../support/reported-owners.ts";

type Expected = Record<string, unknown>;

const THIS_WEEK = { windowStart: WEEK.start, windowEnd: WEEK.end };
const BEFORE = weeksBefore(WEEK, 1);
/** Windows that touch, cover or nearly equal the week without being it. */
const OTHER_WINDOWS = [
  { start: WEEK.end, end: "2026-11-30T03:00:00Z" },
  { start: "2026-11-16T00:00:00Z", end: "2026-11-23T00:00:00Z" },
  { start: WEEK.start, end: "2026-11-23T02:59:59.999999Z" },
  { start: "2026-11-16T03:00:00.000001Z", end: WEEK.end },
  { start: WEEK.start, end: "2026-11-30T03:00:00Z" },
  { start: BEFORE.start, end: WEEK.end },
];

const unavailable = (reason: string): Expected => ({
  ...{ status: "unavailable", coverageStatus: "unavailable", reason },
  ...{ metrics: null, insights: [], evidence: [] },
});
const failedWith = (...codes: string[]) => codes.map((code) => ["failed", code]);
const OK = ["ok", undefined];

const at = (time: string, reach: number): Analysis => ({
  updatedAt: `2026-11-23T10:${time}Z`,
  metrics: { reach },
});

const INSIGHTS = [
  { code: "a", text: "Um", metric: "reach", value: 1.5, previous: null },
  { code: "b", text: "" },
];
const METRICS = { reach: 0, saves: null, rate: 0.0425 };

/** A report's Instagram channel by the analyses of its connections; `sources` are status and code of each. */
const CHANNELS: Record<
  string,
  ReportedOwner & { channel: Expected; sources?: unknown[]; triggers?: unknown[] }
> = {
  "repeats one analysis as it is": {
    analyses: [{ metrics: METRICS, insights: INSIGHTS, evidence: [{ posts: 1 }], triggers: ["weekly"] }],
    channel: {
      ...{
        status: "available",
        coverageStatus: "complete",
        reason: null,
        metrics: METRICS,
        insights: INSIGHTS,
      },
      evidence: [
        {
          ...{ sourceTable: "social_channel_analyses", rowId: expect.any(String), count: null },
          ...{ rangeStart: WEEK.start, rangeEnd: WEEK.end, items: [{ posts: 1 }] },
        },
      ],
    },
    sources: [OK],
    triggers: ["weekly"],
  },
  "keeps the reason of a partial analysis": {
    analyses: [{ coverageStatus: "partial", reason: "Faltam dados de segunda" }],
    channel: { status: "available", coverageStatus: "partial", reason: "Faltam dados de segunda" },
    sources: [OK],
  },
  "is not_connected without a connection": {
    networks: ["linkedin"],
    channel: unavailable("not_connected"),
    sources: [["missing", "not_connected"]],
  },
  "is unavailable after a failed call, with its code": {
    analyses: [404],
    channel: unavailable("APP_HTTP_404"),
    sources: failedWith("APP_HTTP_404"),
    triggers: [],
  },
  "is analysis_missing where the application answered and wrote nothing": {
    analyses: [null],
    channel: unavailable("analysis_missing"),
    sources: [["missing", "analysis_missing"]],
  },
  "takes no row of another channel for that of its connection": {
    analyses: [{ channel: "linkedin" }],
    channel: unavailable("analysis_missing"),
  },
  "keeps a code as the reason of an analysis without data, and its triggers": {
    analyses: [{ coverageStatus: "unavailable", reason: "insufficient_history", triggers: ["weekly"] }],
    channel: unavailable("insufficient_history"),
    sources: [["missing", "insufficient_history"]],
    triggers: ["weekly"],
  },
  "keeps a sentence as the reason, and a code for its source": {
    analyses: [{ coverageStatus: "unavailable", reason: "Conta nova, sem histórico" }],
    channel: unavailable("Conta nova, sem histórico"),
    sources: [["missing", "analysis_unavailable"]],
  },
  "is analysis_unavailable without a reason": {
    analyses: [{ coverageStatus: "unavailable" }],
    channel: unavailable("analysis_unavailable"),
    sources: [["missing", "analysis_unavailable"]],
  },
  "shows the newest of several analyses, to the microsecond": {
    analyses: [at("00:00.000001", 1), at("00:00.000003", 3), at("00:00.000002", 2)],
    channel: { status: "available", coverageStatus: "complete", metrics: { reach: 3 } },
    sources: [OK, OK, OK],
  },
  "is partial where the call of one of several failed": {
    analyses: [{ metrics: { reach: 1 } }, 404],
    channel: {
      status: "available",
      coverageStatus: "partial",
      reason: "APP_HTTP_404",
      metrics: { reach: 1 },
    },
  },
  "is partial where one of several has no row": {
    analyses: [{ metrics: { reach: 1 } }, null],
    channel: {
      status: "available",
      coverageStatus: "partial",
      reason: "analysis_missing",
      metrics: { reach: 1 },
    },
  },
  "is partial where one of several cannot be read": {
    analyses: [{ metrics: { reach: 1 } }, { metrics: "[]" }],
    channel: {
      status: "available",
      coverageStatus: "partial",
      reason: "analysis_malformed",
      metrics: { reach: 1 },
    },
  },
  "is partial where one of several has nothing to show": {
    analyses: [{ metrics: { reach: 1 } }, { coverageStatus: "unavailable" }],
    channel: {
      status: "available",
      coverageStatus: "partial",
      reason: "analysis_unavailable",
      metrics: { reach: 1 },
    },
  },
  "without any analysis has the code of the failed call": {
    analyses: [null, 404],
    channel: unavailable("APP_HTTP_404"),
  },
  "shows no analysis of another window": {
    analyses: [null],
    also: async (sql, owner) => {
      for (const { start, end } of [BEFORE, ...OTHER_WINDOWS])
        await writeAnalysis(sql, {
          ...owner,
          connectionId: owner.connections[0]!.id,
          windowStart: start,
          windowEnd: end,
        });
    },
    channel: unavailable("analysis_missing"),
  },
  "shows no row that names its connection and another user": {
    analyses: [null],
    also: async (sql, owner) => {
      const colleague = await seedOwner(sql, { tenantId: owner.tenantId, role: "member" });
      await writeAnalysis(sql, { ...colleague, connectionId: owner.connections[0]!.id, ...THIS_WEEK });
    },
    channel: unavailable("analysis_missing"),
  },
  "shows no row that names its connection and another tenant": {
    analyses: [null],
    also: async (sql, owner) => {
      const { tenantId } = await seedOwner(sql, { role: "member" });
      await writeAnalysis(sql, { ...owner, tenantId, connectionId: owner.connections[0]!.id, ...THIS_WEEK });
    },
    channel: unavailable("analysis_missing"),
  },
};

/** The score of the report, by what is stored for the week and for the one before. */
const SCORES: [week: number | string | null, score: number | null][] = [
  [0, 0],
  [100, 100],
  ["71.3", 71.3],
  ["0.01", 0.01],
  ["100.01", null],
  ["-0.01", null],
  ["NaN", null],
  [null, null],
];

async function scoresOfOthers(sql: postgres.Sql, owner: SeededOwner): Promise<void> {
  const colleague = await seedOwner(sql, { tenantId: owner.tenantId, role: "member" });
  const stranger = await seedOwner(sql, { role: "member" });
  for (const window of [WEEK, BEFORE]) {
    await writeScore(sql, colleague, window, 90);
    await writeScore(sql, { ...owner, tenantId: stranger.tenantId }, window, 91);
  }
  for (const window of OTHER_WINDOWS) await writeScore(sql, owner, window, 55);
  const longBefore = "2026-11-02T03:00:00Z";
  for (const end of [BEFORE.start, BEFORE.end]) await writeScore(sql, owner, { start: longBefore, end }, 44);
}

/** The steps that a report offers, most useful first; the owner has sent e-mails. */
const STEPS: [ReportedOwner, string[]][] = [
  [{ sends: [] }, ["connect_instagram", "connect_linkedin", "send_email"]],
  [
    { networks: ["linkedin"], analyses: [null], sends: [] },
    ["connect_instagram", "send_email", "check_linkedin"],
  ],
  [{ networks: ["instagram", "linkedin"], analyses: [null, {}] }, ["check_instagram"]],
  [
    {
      networks: ["instagram", "linkedin"],
      analyses: [{ coverageStatus: "unavailable", reason: "Token expirado" }, {}],
    },
    ["check_instagram"],
  ],
  [
    { networks: ["instagram", "linkedin"], analyses: [{ coverageStatus: "unavailable" }, {}] },
    ["gather_instagram"],
  ],
  // Nothing about a failure of ours.
  [{ networks: ["instagram", "linkedin"], analyses: [404, {}] }, ["open_report"]],
  [{ networks: ["instagram", "linkedin"], analyses: [{ metrics: "[]" }, {}] }, ["open_report"]],
  [{ networks: ["linkedin"], analyses: [404], sends: [] }, ["connect_instagram", "send_email"]],
  [{ networks: ["instagram", "linkedin"], analyses: [{}, {}] }, ["open_report"]],
];

const SENT = { sends: [{ events: ["opened"] }] };
let reports: Record<string, Reported>;
beforeAll(async () => {
  reports = await reportsOf({
    ...CHANNELS,
    ...Object.fromEntries(
      SCORES.map(([score], i) => [`score ${i}`, { score: { week: score, before: score } }]),
    ),
    "only a score before": { score: { before: 33 } },
    "scores of others": { also: scoresOfOthers },
    ...Object.fromEntries(STEPS.map(([owner], i) => [`steps ${i}`, { ...SENT, ...owner }])),
  });
});

describe("the Instagram channel of a report", () => {
  test.each(Object.entries(CHANNELS))("%s", (name, { channel, sources, triggers }) => {
    const { channels, provenance } = reports[name]!.payload;
    expect(channels.instagram).toMatchObject(channel);
    const own = provenance.sources.filter((source) => source.channel === "instagram");
    if (sources !== undefined)
      expect(own.map(({ status, code }): unknown => [status, code])).toEqual(sources);
    if (triggers !== undefined) expect(provenance.analysisTriggers).toEqual(triggers);
  });

  test("names each connection, its analysis and when it was made", () => {
    const { owner, payload } = reports["shows the newest of several analyses, to the microsecond"]!;
    const own = payload.provenance.sources.filter(({ channel }) => channel === "instagram");
    expect(own.map(({ connectionId }) => connectionId).toSorted()).toEqual(
      owner.connections.map(({ id }) => id).toSorted(),
    );
    const shown = own.find(({ analysisId }) => analysisId === payload.channels.instagram.evidence[0]!.rowId);
    expect(shown).toMatchObject({
      connectionId: owner.connections[1]!.id,
      updatedAt: "2026-11-23T10:00:00.000003Z",
    });
  });

  test("has its analyses in the order of the connections' ids in the evidence", () => {
    const { owner, evidence } = reports["shows the newest of several analyses, to the microsecond"]!;
    const { analyses } = JSON.parse(evidence) as { analyses: { connectionId: string }[] };
    expect(analyses.map(({ connectionId }) => connectionId)).toEqual(
      owner.connections.map(({ id }) => id).toSorted(),
    );
  });
});

describe("the score of a report", () => {
  test.each(SCORES.map(([stored, score], i) => [stored, score, i] as const))(
    "the score of a stored %p is %p",
    (_stored, score, i) => {
      const delta = score === null ? null : 0;
      expect(reports[`score ${i}`]!.payload.accountScore).toMatchObject({
        score,
        previousScore: score,
        delta,
      });
    },
  );

  test("is its own where only the week before has one", () => {
    const { accountScore } = reports["only a score before"]!.payload;
    expect(accountScore).toEqual({ score: null, previousScore: 33, delta: null, sourceId: null });
  });

  test("is of exactly this owner and window", () => {
    const nothing = { score: null, previousScore: null, delta: null, sourceId: null };
    expect(reports["scores of others"]!.payload.accountScore).toEqual(nothing);
  });
});

describe("the steps of a report", () => {
  test.each(STEPS.map(([, steps], i) => [steps, i] as const))("are %j", (steps, i) => {
    const actions = reports[`steps ${i}`]!.payload.activationActions;
    expect(actions.map(({ code }) => code)).toEqual(steps);
    for (const { label, path, channel } of actions) {
      expect(whatsappPlain(label)).toBe(label);
      expect(label.length).toBeLessThan(100);
      expect(path).toMatch(/^\/app\/[a-z/]+$/);
      expect(["email", "instagram", "linkedin"]).toContain(channel);
    }
  });
});
