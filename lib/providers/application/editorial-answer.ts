import * as v from "valibot";

/**
 * One answer of the editorial route.
 *
 * Shape: `nextCursor` is opaque and goes back unchanged; `llmCalls`, `processed` and `skipped` are null when absent;
 *        `reasonStopped` and the failures' codes are short codes, or `invalid_code` where the peer sent something else.
 */
export type EditorialAnswer = {
  truncated: boolean;
  nextCursor: unknown;
  reasonStopped: string | null;
  llmCalls: number | null;
  processed: number | null;
  skipped: number | null;
  failures: { tenantId: string | null; code: string }[];
};

const INVALID_CODE = "invalid_code";

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const code = v.fallback(v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.:-]{1,64}$/)), INVALID_CODE);
const tenantId = v.fallback(
  v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i), v.toLowerCase())),
  null,
);
const failure = v.fallback(
  v.object({ tenantId: v.optional(tenantId, null), code: v.optional(code, INVALID_CODE) }),
  {
    tenantId: null,
    code: INVALID_CODE,
  },
);

const answerSchema = v.object({
  truncated: v.boolean(),
  nextCursor: v.optional(v.unknown()),
  reasonStopped: v.nullish(code, null),
  llmCalls: v.nullish(count, null),
  processed: v.fallback(v.nullish(count, null), null),
  skipped: v.fallback(v.nullish(count, null), null),
  failures: v.nullish(v.array(failure), []),
});

/** Reads an answer of the editorial route; null when it is not one, so that it can never pass for "finished". */
export function parseEditorialAnswer(json: unknown): EditorialAnswer | null {
  const parsed = v.safeParse(answerSchema, json);
  return parsed.success ? { nextCursor: undefined, ...parsed.output } : null;
}
