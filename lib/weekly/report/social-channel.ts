import type { AnalysisRow } from "../database/evidence.ts";
import type { WindowBounds } from "../database/reports.ts";
import type { Channel, Source } from "../payload.ts";
import type { CollectedConnection } from "./collect.ts";
import { parseAnalysis } from "./evidence.ts";

/** A social channel of the report, where its content came from, and the triggers its analyses recorded. */
export type SocialChannel = { channel: Channel; sources: Source[]; triggers: unknown[] };

/**
 * One social network: available when at least one of its connections has an analysis of this exact week.
 *
 * Shape:  shows the newest analysis, names the others in `sources`; partial when one of several connections has none.
 * Source: weekly report document, run flow 4 and 5: a failed call makes its connection unavailable, an older row of
 *         the same window does not stand in for it.
 */
export function socialChannel(
  network: "instagram" | "linkedin",
  connections: CollectedConnection[],
  analyses: AnalysisRow[],
  window: WindowBounds,
): SocialChannel {
  const own = connections.filter((connection) => connection.network === network);
  if (own.length === 0) {
    const sources: Source[] = [{ channel: network, status: "missing", code: "not_connected" }];
    return { channel: unavailable("not_connected"), sources, triggers: [] };
  }

  const results = own.map((connection) => {
    const row = analyses.find((a) => a.connectionId === connection.id && a.channel === network);
    const content = row && parseAnalysis(row);
    if (connection.code !== null) return { connection, reason: connection.code };
    if (!row) return { connection, reason: "analysis_missing" };
    if (!content) return { connection, row, reason: "analysis_malformed" };
    if (content.coverageStatus === "unavailable") {
      return { connection, row, content, reason: content.reason ?? "analysis_unavailable" };
    }
    return { connection, row, content, reason: null };
  });

  const sources = results.map(({ connection, row, reason }): Source => {
    const analysis = row ? { analysisId: row.id, updatedAt: row.updatedAt } : {};
    const base = { channel: network, connectionId: connection.id };
    if (reason === null) return { ...base, status: "ok", ...analysis };
    return {
      ...base,
      status: connection.code === null ? "missing" : "failed",
      code: codeOf(reason),
      ...analysis,
    };
  });
  const triggers = results.flatMap(({ content }) => content?.triggers ?? []);

  const usable = results.filter((result) => result.reason === null);
  const newest = usable.reduce<(typeof usable)[number] | undefined>(
    (best, next) => (best && best.row!.updatedAt >= next.row!.updatedAt ? best : next),
    undefined,
  );
  if (!newest) {
    // The failure that somebody can mend says more than the silence of another connection.
    const worst = results.find(({ connection }) => connection.code !== null) ?? results[0]!;
    return { channel: unavailable(worst.reason!), sources, triggers };
  }
  const { row, content } = newest;
  const whole = usable.length === own.length && content!.coverageStatus === "complete";
  return {
    channel: {
      status: "available",
      coverageStatus: whole ? "complete" : "partial",
      reason: content!.reason ?? results.find(({ reason }) => reason !== null)?.reason ?? null,
      metrics: content!.metrics,
      insights: content!.insights,
      evidence: [
        {
          sourceTable: "social_channel_analyses",
          rowId: row!.id,
          rangeStart: window.start,
          rangeEnd: window.end,
          count: null,
          items: content!.evidence,
        },
      ],
    },
    sources,
    triggers,
  };
}

function unavailable(reason: string): Channel {
  return {
    status: "unavailable",
    coverageStatus: "unavailable",
    reason,
    metrics: null,
    insights: [],
    evidence: [],
  };
}

// A reason in the application's own words stays with the channel; the source names a code.
function codeOf(reason: string): string {
  return /^[A-Za-z0-9_.:-]{1,64}$/.test(reason) ? reason : "analysis_unavailable";
}
