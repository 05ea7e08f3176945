import type { ApplicationClient } from "../../providers/application/client.ts";
import { type EditorialSummary, type Failure, noEditorials } from "../context/summary.ts";

/** How many tenants the editorial route takes a call, and the most language-model calls it may use for them. */
export const EDITORIAL_BATCH_SIZE = 3;

const STALLED_ANSWERS = 3;

/** What the drain needs of its run. */
export type DrainDependencies = {
  application: Pick<ApplicationClient, "drainEditorials">;
  /** Null when a further call may begin, else why not: another day, a stopped run. */
  refusal(): Promise<string | null>;
  signal: AbortSignal;
  fail(failure: Failure): void;
};

/**
 * Steps 13 and 14: calls the editorial route until it has seen every tenant, within the ceiling of model calls.
 *
 * Shape:  `confirm` proves before each call that this process still holds the drain's lock.
 * Errors: SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED before a call that the ceiling does not cover,
 *         SOCIAL_EDITORIALS_NO_PROGRESS after three answers in a row that did not advance the cursor, and the codes of
 *         the route; none is repeated in the run.
 * Source: weekly report document, run flow 13 to 15; progress is the cursor, not the use of the model.
 */
export async function drainEditorials(
  dependencies: DrainDependencies,
  maxLlmCalls: number,
  confirm: () => Promise<void>,
): Promise<EditorialSummary> {
  const summary = noEditorials("completed", null);
  const end = (code: string | null): EditorialSummary => {
    const verdict = code ?? (summary.tenantFailures > 0 ? "SOCIAL_EDITORIALS_TENANT_FAILURES" : null);
    if (verdict === null) return summary;
    dependencies.fail({ step: "editorials", code: verdict });
    return { ...summary, status: "failed", code: verdict };
  };

  let cursor: unknown = null;
  const seen = new Set<string>();
  let stalled = 0;
  for (;;) {
    const left = maxLlmCalls - summary.llmCalls;
    if (left < EDITORIAL_BATCH_SIZE) return end("SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED");
    try {
      const refusal = await dependencies.refusal();
      if (refusal !== null) return end(refusal);
      await confirm();
    } catch {
      return end("SOCIAL_EDITORIALS_LOCK_LOST");
    }

    const allowed = Math.min(EDITORIAL_BATCH_SIZE, left);
    summary.calls += 1;
    const result = await dependencies.application.drainEditorials(
      { cursor, maxLlmCalls: allowed },
      dependencies.signal,
    );
    if (result.status !== "ok") {
      // The call may have used the model all the same.
      summary.llmCalls += allowed;
      return end(result.code);
    }
    const { answer } = result;
    const used = answer.llmCalls ?? EDITORIAL_BATCH_SIZE;
    summary.llmCalls += used;
    summary.tenants += (answer.processed ?? 0) + (answer.skipped ?? 0);
    summary.tenantFailures += answer.failures.length;
    summary.reasonStopped = answer.reasonStopped;
    for (const { tenantId, code } of answer.failures) {
      dependencies.fail({ step: "editorials", code, ...(tenantId === null ? {} : { tenantId }) });
    }
    if (used > allowed) return end("SOCIAL_EDITORIALS_LLM_OVERRUN");
    if (!answer.truncated) return end(null);

    const next = answer.nextCursor ?? null;
    const nextKey = JSON.stringify(next);
    summary.cursor = printable(nextKey);
    if (next === null || seen.has(nextKey)) {
      stalled += 1;
      if (stalled === STALLED_ANSWERS) return end("SOCIAL_EDITORIALS_NO_PROGRESS");
    } else {
      stalled = 0;
      seen.add(nextKey);
      cursor = next;
    }
  }
}

// The cursor is a peer's text: shown where it helps and can do no harm.
function printable(text: string): string {
  return /^[\w"{}[\]:,.=+/-]{1,200}$/.test(text) ? text : "<not printable>";
}
