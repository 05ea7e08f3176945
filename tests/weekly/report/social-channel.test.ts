import { describe, expect, test } from "bun:test";
import type { AnalysisRow } from "../../../lib/weekly/database/evidence.ts";
import type { CollectedConnection } from "../../../lib/weekly/report/social-channel.ts";
import { socialChannel } from "../../../lib/weekly/report/social-channel.ts";
import { WEEK } from "../../support/seed.ts";

const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

function connection(n: number, code: string | null = null): CollectedConnection {
  return { id: id(n), network: "instagram", code };
}

function row(n: number, rest: Partial<AnalysisRow> = {}): AnalysisRow {
  return {
    id: id(100 + n),
    connectionId: id(n),
    channel: "instagram",
    coverageStatus: "complete",
    reason: null,
    metrics: { reach: n },
    insights: [{ code: "reach", text: `Alcance ${n}` }],
    evidence: [{ posts: n }],
    triggers: [`trigger ${n}`],
    updatedAt: `2026-11-23T10:00:0${n}.000000Z`,
    ...rest,
  };
}

const instagram = (connections: CollectedConnection[], rows: AnalysisRow[]) =>
  socialChannel("instagram", connections, rows, WEEK);

describe("socialChannel() of one connection", () => {
  test("repeats the analysis as it is, and says which row it came from", () => {
    const insights = [
      { code: "a", text: "Um", metric: "reach", value: 1.5, previous: null },
      { code: "b", text: "" },
    ];
    const metrics = { reach: 0, saves: null, rate: 0.0425 };
    const { channel, sources, triggers } = instagram([connection(1)], [row(1, { metrics, insights })]);
    expect(channel).toEqual({
      status: "available",
      coverageStatus: "complete",
      reason: null,
      metrics,
      insights,
      evidence: [
        {
          sourceTable: "social_channel_analyses",
          rowId: id(101),
          rangeStart: WEEK.start,
          rangeEnd: WEEK.end,
          count: null,
          items: [{ posts: 1 }],
        },
      ],
    });
    expect(sources).toEqual([
      {
        channel: "instagram",
        connectionId: id(1),
        status: "ok",
        analysisId: id(101),
        updatedAt: "2026-11-23T10:00:01.000000Z",
      },
    ]);
    expect(triggers).toEqual(["trigger 1"]);
  });

  test("a partial analysis keeps its own reason", () => {
    const { channel } = instagram(
      [connection(1)],
      [row(1, { coverageStatus: "partial", reason: "Faltam dados de segunda" })],
    );
    expect(channel).toMatchObject({
      status: "available",
      coverageStatus: "partial",
      reason: "Faltam dados de segunda",
    });
  });

  test("no connection, or only another network's, is not_connected", () => {
    const others: CollectedConnection[] = [{ ...connection(1), network: "linkedin" }];
    for (const connections of [[], others]) {
      const { channel, sources, triggers } = instagram(connections, [row(1)]);
      expect(channel).toMatchObject({ status: "unavailable", reason: "not_connected", metrics: null });
      expect(sources).toEqual([{ channel: "instagram", status: "missing", code: "not_connected" }]);
      expect(triggers).toEqual([]);
    }
  });

  test("a failed call makes it unavailable although an older row is there", () => {
    const { channel, sources, triggers } = instagram([connection(1, "APP_HTTP_503")], [row(1)]);
    expect(channel).toEqual({
      status: "unavailable",
      coverageStatus: "unavailable",
      reason: "APP_HTTP_503",
      metrics: null,
      insights: [],
      evidence: [],
    });
    expect(sources).toEqual([
      { channel: "instagram", connectionId: id(1), status: "failed", code: "APP_HTTP_503" },
    ]);
    expect(triggers).toEqual([]);
  });

  test("no row after a call that succeeded is analysis_missing", () => {
    const { channel, shownConnectionId, sources } = instagram([connection(1)], [row(2)]);
    expect(shownConnectionId).toBeNull();
    expect(channel).toMatchObject({ status: "unavailable", reason: "analysis_missing", metrics: null });
    expect(sources).toEqual([
      { channel: "instagram", connectionId: id(1), status: "missing", code: "analysis_missing" },
    ]);
  });

  test("a row of another channel than its connection is no analysis of either", () => {
    const { channel } = instagram([connection(1)], [row(1, { channel: "linkedin" })]);
    expect(channel).toMatchObject({ status: "unavailable", reason: "analysis_missing" });
    const linkedin = socialChannel("linkedin", [connection(1)], [row(1, { channel: "linkedin" })], WEEK);
    expect(linkedin.channel).toMatchObject({ status: "unavailable", reason: "not_connected" });
  });

  test.each([
    ["a code", "insufficient_history", "insufficient_history"],
    ["a sentence", "Conta nova, sem histórico", "analysis_unavailable"],
    ["nothing", null, "analysis_unavailable"],
  ])("coverage unavailable with %s keeps the reason and its triggers", (_what, reason, code) => {
    const unavailable = row(1, { coverageStatus: "unavailable", reason });
    const { channel, sources, triggers } = instagram([connection(1)], [unavailable]);
    expect(channel).toEqual({
      status: "unavailable",
      coverageStatus: "unavailable",
      reason: reason ?? "analysis_unavailable",
      metrics: null,
      insights: [],
      evidence: [],
    });
    expect(sources[0]).toMatchObject({ status: "missing", code, analysisId: id(101) });
    expect(triggers).toEqual(["trigger 1"]);
  });
});

describe("socialChannel() of several connections", () => {
  test("shows the newest analysis, and names all of them", () => {
    const rows = [row(1, { updatedAt: "2026-11-23T10:59:59.999999Z" }), row(2), row(3)];
    for (const shuffled of [rows, rows.toReversed()]) {
      const { channel, shownConnectionId, sources, triggers } = instagram(
        [connection(1), connection(2), connection(3)],
        shuffled,
      );
      expect(shownConnectionId).toBe(id(1));
      expect(channel).toMatchObject({ coverageStatus: "complete", reason: null, metrics: { reach: 1 } });
      expect(channel.evidence).toHaveLength(1);
      expect(sources.map(({ analysisId, status }) => [analysisId, status])).toEqual([
        [id(101), "ok"],
        [id(102), "ok"],
        [id(103), "ok"],
      ]);
      expect(triggers).toEqual(["trigger 1", "trigger 2", "trigger 3"]);
    }
  });

  test("tells microseconds apart", () => {
    const rows = [
      row(1, { updatedAt: "2026-11-23T10:00:00.000001Z" }),
      row(2, { updatedAt: "2026-11-23T10:00:00.000002Z" }),
    ];
    const { channel } = instagram([connection(1), connection(2)], rows);
    expect(channel.metrics).toEqual({ reach: 2 });
  });

  test.each([
    ["a call failed", [connection(1), connection(2, "APP_TIMEOUT")], [row(1), row(2)], "APP_TIMEOUT"],
    ["a row is missing", [connection(1), connection(2)], [row(1)], "analysis_missing"],
    [
      "a row is malformed",
      [connection(1), connection(2)],
      [row(1), row(2, { metrics: [] })],
      "analysis_malformed",
    ],
    [
      "one has nothing to show",
      [connection(1), connection(2)],
      [row(1), row(2, { coverageStatus: "unavailable" })],
      "analysis_unavailable",
    ],
  ])("is partial when %s, with the reason of that one", (_what, connections, rows, reason) => {
    const { channel, sources } = instagram(connections, rows);
    expect(channel).toMatchObject({ status: "available", coverageStatus: "partial", reason });
    expect(channel.metrics).toEqual({ reach: 1 });
    expect(sources.map(({ status }) => status)).toEqual([
      "ok",
      reason === "APP_TIMEOUT" ? "failed" : "missing",
    ]);
  });

  test("without any analysis, the failure of a call says why", () => {
    const { channel, sources } = instagram([connection(1), connection(2, "APP_HTTP_500")], []);
    expect(channel).toMatchObject({ status: "unavailable", reason: "APP_HTTP_500" });
    expect(sources.map(({ status, code }) => [status, code])).toEqual([
      ["missing", "analysis_missing"],
      ["failed", "APP_HTTP_500"],
    ]);
  });
});
