/** Reports of many owners, made by one run: what is known of each owner's week, and the report that is stored of it. */
import type postgres from "postgres";
import type { AnalysisBody } from "../../standins/application.ts";
import {
  type AnalysisContent,
  type SeededOwner,
  type Sends,
  seedOwner,
  WEEK,
  writeAnalysis,
  writeSends,
} from "../../support/seed.ts";
import { type PastReport, weeksBefore, writePastReport } from "./past-report.ts";
import type { StoredReport } from "./stored-report.ts";
import { type WeeklyFixture, weeklyFixture } from "./weekly-fixture.ts";

/**
 * What the application makes of one connection.
 *
 * Shape: a status is an answer that fails; `null` is an answer without an analysis; texts are JSON as it is stored.
 */
export type Analysis = number | null | AnalysisContent;

/**
 * One owner whose report is wanted.
 *
 * Shape: `analyses` are those of `networks`, in this order. `past` are reports of so many weeks before; `also` writes
 *        what only this case has.
 */
export type ReportedOwner = {
  tenantName?: string;
  networks?: string[];
  analyses?: readonly Analysis[];
  sends?: Sends[];
  score?: { week?: number | string | null; before?: number | string | null };
  past?: PastReports | ((owner: SeededOwner) => PastReports);
  also?: (sql: postgres.Sql, owner: SeededOwner) => Promise<unknown>;
};

type PastReports = Record<number, PastReport>;

/** The stored report of a case, its owner, and the ids of the past reports by their weeks. */
export type Reported = StoredReport & { owner: SeededOwner; past: Record<string, string> };

/** A Monday's window of the week before that of the tests. */
const BEFORE = weeksBefore(WEEK, 1);

/** Runs once over these owners, on a database of its own or on `weekly`; gives their reports by the same names. */
export async function reportsOf<Name extends string>(
  cases: Record<Name, ReportedOwner>,
  weekly?: WeeklyFixture,
): Promise<Record<Name, Reported>> {
  if (weekly === undefined) {
    await using own = await weeklyFixture();
    return await reportsOf(cases, own);
  }
  const { sql } = weekly.db;
  // A healthy answer of the first owner says that the application works, whatever the others get.
  const first = { tenantId: "00000000-0000-4000-8000-000000000001", networks: ["instagram"] };
  const healthy = await seedOwner(sql, first);
  const answers = new Map<string, Analysis>(healthy.connections.map(({ id }) => [id, {}]));
  const seeded: [Name, { owner: SeededOwner; past: Record<string, string> }][] = [];
  for (const [name, spec] of Object.entries<ReportedOwner>(cases)) {
    const { networks = spec.analyses?.map(() => "instagram") ?? [], tenantName } = spec;
    const owner = await seedOwner(sql, {
      networks,
      sends: [],
      ...(tenantName !== undefined && { tenantName }),
    });
    owner.connections.forEach(({ id }, i) => {
      answers.set(id, spec.analyses === undefined ? {} : spec.analyses[i]!);
    });
    if (spec.sends) await writeSends(sql, owner, spec.sends);
    for (const [at, window] of [
      ["week", WEEK],
      ["before", BEFORE],
    ] as const)
      if (spec.score?.[at] !== undefined) await writeScore(sql, owner, window, spec.score[at]);
    const past: Record<string, string> = {};
    const earlier = typeof spec.past === "function" ? spec.past(owner) : spec.past;
    for (const [weeks, report] of Object.entries(earlier ?? {}))
      past[weeks] = await writePastReport(sql, owner, weeksBefore(WEEK, Number(weeks)), report);
    await spec.also?.(sql, owner);
    seeded.push([name as Name, { owner, past }]);
  }
  weekly.application.routes.analysis.scriptByBody = ({ body }) => {
    const answer = answers.get((body as AnalysisBody).connectionId);
    return typeof answer === "number" ? { status: answer } : undefined;
  };
  weekly.onAnalyze = async (body) => {
    const content = answers.get(body.connectionId);
    if (typeof content === "object" && content !== null) await writeAnalysis(sql, body, analysisOf(content));
  };
  const { reports } = await weekly.run({ skipWhatsapp: true, skipEmail: true });
  if (reports.failed > 0) throw new Error(`${reports.failed} reports failed`);
  const stored = seeded.map(
    async ([name, seed]) => [name, { ...(await reportOfWeek(sql, seed.owner)), ...seed }] as const,
  );
  return Object.fromEntries(await Promise.all(stored)) as Record<Name, Reported>;
}

async function reportOfWeek(sql: postgres.Sql, owner: SeededOwner): Promise<StoredReport> {
  const [report] = await sql<StoredReport[]>`
    select id, status, fingerprint, evidence, payload, coverage_status, error_code from weekly_performance_reports
    where tenant_id = ${owner.tenantId} and user_id = ${owner.userId} and window_start = ${WEEK.start}
      and window_end = ${WEEK.end} and schema_version = 1`;
  return report!;
}

/** Writes a score; the window goes in as text, because the driver would cut its microseconds. */
export async function writeScore(
  sql: postgres.Sql,
  { tenantId, userId }: { tenantId: string; userId: string },
  { start, end }: { start: string; end: string },
  score: number | string | null,
): Promise<void> {
  await sql`
    insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
    values (${tenantId}, ${userId}, ${start}::text::timestamptz, ${end}::text::timestamptz, ${score})`;
}

/** The analysis of a case: of what it leaves out, as little as an analysis can have. */
function analysisOf(content: AnalysisContent): AnalysisContent {
  return {
    metrics: { reach: 5400 },
    insights: [],
    evidence: [],
    triggers: [],
    updatedAt: "2026-11-23T10:00:00Z",
    ...content,
  };
}
