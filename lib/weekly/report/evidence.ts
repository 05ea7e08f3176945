import * as v from "valibot";
import type { AnalysisRow, EmailCounts, EvidenceRows } from "../database/evidence.ts";
import { type Insight, metricsSchema } from "../payload.ts";

const finite = v.pipe(v.number(), v.finite());

/** No analysis nests deeper, and not every runtime can write JSON that does. */
const DEEPEST = 64;

// Any JSON without numbers that `jsonb` can hold and JavaScript cannot: 1e400 is read as infinite.
const repeatable = v.custom<unknown>((value) => isRepeatable(value, 0));

/** Stands where an insight has no code: what the owner reads is its text. */
const NO_CODE = "unknown";

/**
 * An insight as the application writes it; codes are not compared, since new ones may come.
 *
 * Behaviour: null is absence: an insight without a metric or a code is shown, one without a text is left out.
 */
const insightSchema = v.pipe(
  v.object({
    code: v.nullable(v.string()),
    text: v.nullable(v.string()),
    metric: v.nullish(v.string()),
    value: v.optional(v.nullable(finite)),
    previous: v.optional(v.nullable(finite)),
  }),
  v.transform(({ code, text, metric, ...figures }): Insight[] => {
    if (text === null) return [];
    const named = metric === null || metric === undefined ? {} : { metric };
    return [{ code: code ?? NO_CODE, text, ...named, ...figures }];
  }),
);

/** The shape of an analysis row; a report repeats no other. */
const analysisSchema = v.object({
  coverageStatus: v.picklist(["complete", "partial", "unavailable"]),
  reason: v.nullable(v.string()),
  metrics: metricsSchema,
  insights: v.pipe(
    v.array(insightSchema),
    v.transform((insights) => insights.flat()),
  ),
  evidence: v.array(repeatable),
  triggers: v.array(repeatable),
});

/** The content of an analysis, without the row's id and time. */
export type AnalysisEvidence = v.InferOutput<typeof analysisSchema> & {
  connectionId: string;
  channel: string;
};

/**
 * What a report is made of and what its fingerprint covers; `null` is absence, never zero.
 *
 * Shape: without ids of rows, times and tokens, so that the same findings always give the same fingerprint.
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

/** The content of an analysis row, or null when it does not have the promised shape. */
export function parseAnalysis(row: AnalysisRow): AnalysisContent | null {
  const known = parsed.get(row);
  if (known !== undefined) return known;
  const result = v.safeParse(analysisSchema, row);
  const content = result.success ? result.output : null;
  parsed.set(row, content);
  return content;
}

type AnalysisContent = v.InferOutput<typeof analysisSchema>;

/** Rows of a report are asked for more than once, and may be large. */
const parsed = new WeakMap<AnalysisRow, AnalysisContent | null>();

function isRepeatable(value: unknown, depth: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (value === null || typeof value !== "object") return true;
  return depth < DEEPEST && Object.values(value).every((item) => isRepeatable(item, depth + 1));
}

/** A score outside 0 to 100 counts as absent. */
function validScore(score: number | null): number | null {
  return score !== null && score >= 0 && score <= 100 ? score : null;
}
