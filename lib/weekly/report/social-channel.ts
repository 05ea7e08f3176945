import type { WeekBounds } from "../../ledger/week-state.ts";
import type { AnalysisRow } from "../database/evidence.ts";
import type { Connection } from "../database/reports.ts";
import { type PlainChannel, type Source, unavailableChannel } from "../payload.ts";
import { LEFT_OUT } from "./collect.ts";
import { parseAnalysis } from "./evidence.ts";

/** A connection after the collection; `code` is null when the application has answered for it. */
export type CollectedConnection = Connection & { code: string | null };

/**
 * A social channel of the report, where its content came from, and the triggers its analyses recorded.
 *
 * Shape: `shownConnectionId` is the connection whose figures the channel has; null where it has none.
 */
export type SocialChannel = {
  channel: PlainChannel;
  shownConnectionId: string | null;
  sources: Source[];
  triggers: unknown[];
};

/**
 * One social network: available when at least one of its connections has an analysis of this exact week.
 *
 * Behaviour: shows the newest analysis, names the others in `sources`; partial when one of several connections has
 *            none.
 * Source:    weekly report document, run flow 4 and 5: a failed call makes its connection unavailable, an older row of
 *            the same window does not stand in for it.
 */
export function socialChannel(
  network: "instagram" | "linkedin",
  connections: CollectedConnection[],
  analyses: AnalysisRow[],
  window: WeekBounds,
): SocialChannel {
  const own = connections.filter((connection) => connection.network === network);
  if (own.length === 0) {
    const sources: Source[] = [{ channel: network, status: "missing", code: "not_connected" }];
    return {
      channel: unavailableChannel("not_connected"),
      shownConnectionId: null,
      sources,
      triggers: [],
    };
  }
  const findings = own.map((connection) => findingOf(connection, analyses));
  const usable = findings.filter((finding) => finding.reason === null);
  const newest = newestOf(usable);
  return {
    channel: newest ? shownChannel(newest, findings, window) : missingChannel(findings),
    shownConnectionId: newest?.connection.id ?? null,
    sources: findings.map(sourceOf),
    triggers: findings.flatMap(({ content }) => content?.triggers ?? []),
  };
}

/** What the week has of one connection; `reason` is null when its analysis can be shown. */
type Finding = { connection: CollectedConnection; row?: AnalysisRow; content?: AnalysisContent } & (
  | { reason: string }
  | { reason: null; row: AnalysisRow; content: AnalysisContent }
);

type AnalysisContent = NonNullable<ReturnType<typeof parseAnalysis>>;

function findingOf(connection: CollectedConnection, analyses: AnalysisRow[]): Finding {
  if (connection.code !== null) return { connection, reason: connection.code };
  const row = analyses.find((a) => a.connectionId === connection.id && a.channel === connection.network);
  if (!row) return { connection, reason: "analysis_missing" };
  const content = parseAnalysis(row);
  if (!content) return { connection, row, reason: "analysis_malformed" };
  const reason = content.coverageStatus === "unavailable" ? (content.reason ?? "analysis_unavailable") : null;
  return { connection, row, content, reason };
}

function sourceOf({ connection, row, reason }: Finding): Source {
  const updatedAt = row?.updatedAt ?? null;
  const analysis = row ? { analysisId: row.id, ...(updatedAt === null ? {} : { updatedAt }) } : {};
  const base = { channel: connection.network, connectionId: connection.id };
  if (reason === null) return { ...base, status: "ok", ...analysis };
  const status = connection.code === null || connection.code === LEFT_OUT ? "missing" : "failed";
  return { ...base, status, code: codeOf(reason), ...analysis };
}

type UsableFinding = Extract<Finding, { reason: null }>;

/** A failed call can be mended, so its reason is shown before that of a connection without an analysis. */
function missingChannel(findings: Finding[]): PlainChannel {
  const worst = findings.find(({ connection }) => connection.code !== null) ?? findings[0]!;
  return unavailableChannel(worst.reason!);
}

function shownChannel(
  { row, content }: UsableFinding,
  findings: Finding[],
  window: WeekBounds,
): PlainChannel {
  const isWhole = findings.every(({ reason }) => reason === null) && content.coverageStatus === "complete";
  return {
    status: "available",
    coverageStatus: isWhole ? "complete" : "partial",
    reason: content.reason ?? findings.find(({ reason }) => reason !== null)?.reason ?? null,
    metrics: content.metrics,
    insights: content.insights,
    evidence: [
      {
        sourceTable: "social_channel_analyses",
        rowId: row.id,
        rangeStart: window.start,
        rangeEnd: window.end,
        count: null,
        items: content.evidence,
      },
    ],
  };
}

/** Of several with the same time, the first; one without a time comes last. */
function newestOf<T extends { row: AnalysisRow }>(findings: T[]): T | undefined {
  return findings.reduce<T | undefined>(
    (best, next) => (best && timeOf(best) >= timeOf(next) ? best : next),
    undefined,
  );
}

function timeOf({ row }: { row: AnalysisRow }): string {
  return row.updatedAt ?? "";
}

// A source has a code; a reason in the application's own words is shown by the channel only.
function codeOf(reason: string): string {
  return /^[A-Za-z0-9_.:-]{1,64}$/.test(reason) ? reason : "analysis_unavailable";
}
