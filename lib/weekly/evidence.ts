import * as v from "valibot";
import type { AnalysisRow, EmailCounts, EvidenceRows } from "./store.ts";

const finite = v.pipe(v.number(), v.finite());

/** What the application's analysis row has to look like before a report repeats it. */
const analysisSchema = v.object({
  coverageStatus: v.picklist(["complete", "partial", "unavailable"]),
  reason: v.nullable(v.string()),
  metrics: v.record(v.string(), v.nullable(finite)),
  insights: v.array(
    v.object({
      code: v.string(),
      text: v.string(),
      metric: v.optional(v.string()),
      value: v.optional(v.nullable(finite)),
      previous: v.optional(v.nullable(finite)),
    }),
  ),
  evidence: v.array(v.unknown()),
  triggers: v.array(v.unknown()),
});

/** The content of an analysis, without what the database made up for the row (id, time). */
export type AnalysisEvidence = v.InferOutput<typeof analysisSchema> & {
  connectionId: string;
  channel: string;
};

/**
 * What a report is made of and what its fingerprint covers; `null` is absence, never zero.
 *
 * Shape: ids of rows, times and tokens are outside: the same findings always give the same fingerprint.
 */
export type Evidence = {
  score: { value: number | null; previous: number | null };
  analyses: (AnalysisEvidence | { connectionId: string; channel: string; malformed: true })[];
  email: EmailCounts | null;
};

/** The evidence of one report, from the rows as read. */
export function evidenceOf(rows: EvidenceRows): Evidence {
  return {
    score: { value: validScore(rows.score?.score ?? null), previous: validScore(rows.previousScore) },
    analyses: rows.analyses.map((row) => {
      const { connectionId, channel } = row;
      const content = parseAnalysis(row);
      return content ? { connectionId, channel, ...content } : { connectionId, channel, malformed: true };
    }),
    email: rows.email.sends === 0 ? null : rows.email,
  };
}

/** The content of an analysis row, or null when it is not what the application promised. */
export function parseAnalysis(row: AnalysisRow): v.InferOutput<typeof analysisSchema> | null {
  const result = v.safeParse(analysisSchema, row);
  return result.success ? result.output : null;
}

/** A score outside 0 to 100 proves nothing. */
function validScore(score: number | null): number | null {
  return score !== null && score >= 0 && score <= 100 ? score : null;
}
