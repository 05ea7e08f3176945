import type { ApplicationClient, EditorialAnswer } from "../../providers/application/client.ts";
import { type EditorialSummary, type Failure, noEditorials } from "../context/summary.ts";
import { isConnectionLoss } from "../database/refusals.ts";

/** How many tenants one call covers, and the most language-model calls it may use for them. */
const BATCH_SIZE = 3;

/** Answers in a row that do not advance the cursor, after which the drain ends. */
const STALLED_ANSWERS = 3;

/** What the drain needs of its run. */
export type DrainDependencies = {
  application: Pick<ApplicationClient, "drainEditorials">;
  /** Null when a further call may begin, else why not: another day, a stopped run. */
  refusal(): Promise<string | null>;
  signal: AbortSignal;
  fail(failure: Failure): void;
};

/** How far a drain has come; one whose lock was lost goes on from here. `result` is null until it has ended. */
export type DrainState = {
  summary: EditorialSummary;
  progress: CursorProgress;
  result: EditorialSummary | null;
};

/** A drain that has made no call. */
export function newDrain(): DrainState {
  return { summary: noEditorials("completed", null), progress: new CursorProgress(), result: null };
}

/**
 * Steps 13 and 14: calls the editorial route until it has seen every tenant, within the ceiling of model calls.
 *
 * Behaviour: `confirm` proves before each call that this process still holds the drain's lock. When the database is
 *            away, its error is thrown: called again with the same state and a lock, the drain goes on where it was.
 * Errors:    SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED before a call that the ceiling does not cover,
 *            SOCIAL_EDITORIALS_NO_PROGRESS after three answers in a row that did not advance the cursor, and the codes
 *            of the route; the run repeats none of these calls.
 * Source:    weekly report document, run flow 13 to 15; progress is the cursor, not the use of the model.
 */
export async function drainEditorials(
  dependencies: DrainDependencies,
  maxLlmCalls: number,
  confirm: () => Promise<void>,
  state: DrainState = newDrain(),
): Promise<EditorialSummary> {
  const { summary, progress } = state;
  const end = (code: string | null): EditorialSummary => {
    state.result = resultOf(dependencies, summary, code);
    return state.result;
  };

  if (state.result !== null) return state.result;
  for (;;) {
    if (maxLlmCalls - summary.llmCalls < BATCH_SIZE) return end("SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED");
    const refusal = await refusalUnderLock(dependencies, confirm);
    if (refusal !== null) return end(refusal);

    summary.calls += 1;
    const input = { cursor: progress.cursor, maxLlmCalls: BATCH_SIZE };
    const result = await dependencies.application.drainEditorials(input, dependencies.signal);
    if (result.status !== "ok") {
      // The call may have used the model all the same.
      summary.llmCalls += BATCH_SIZE;
      return end(result.code);
    }
    const used = countAnswer(dependencies, summary, result.answer);
    if (used > BATCH_SIZE) return end("SOCIAL_EDITORIALS_LLM_OVERRUN");
    if (!result.answer.truncated) return end(null);

    const next = result.answer.nextCursor ?? null;
    summary.cursor = printable(JSON.stringify(next));
    progress.take(next);
    if (progress.stalled === STALLED_ANSWERS) return end("SOCIAL_EDITORIALS_NO_PROGRESS");
  }
}

/** The summary of a drain that ends with this code, or without one; a failure is told. */
function resultOf(
  { fail }: DrainDependencies,
  summary: EditorialSummary,
  code: string | null,
): EditorialSummary {
  const verdict = code ?? (summary.tenantFailures > 0 ? "SOCIAL_EDITORIALS_TENANT_FAILURES" : null);
  if (verdict === null) return summary;
  fail({ step: "editorials", code: verdict });
  return { ...summary, status: "failed", code: verdict };
}

/** Null when the next call may begin and this process still has the lock, else the code of why not. */
async function refusalUnderLock(
  { refusal }: DrainDependencies,
  confirm: () => Promise<void>,
): Promise<string | null> {
  try {
    const code = await refusal();
    if (code === null) await confirm();
    return code;
  } catch (error) {
    if (isConnectionLoss(error)) throw error;
    return "SOCIAL_EDITORIALS_LOCK_LOST";
  }
}

/** Adds an answer to the summary; returns how many model calls it used. */
function countAnswer(
  { fail }: DrainDependencies,
  summary: EditorialSummary,
  answer: EditorialAnswer,
): number {
  // An answer that does not say it counts as if it had used all.
  const used = answer.llmCalls ?? BATCH_SIZE;
  summary.llmCalls += used;
  summary.tenants += (answer.processed ?? 0) + (answer.skipped ?? 0);
  summary.tenantFailures += answer.failures.length;
  summary.reasonStopped = answer.reasonStopped;
  for (const { tenantId, code } of answer.failures) {
    fail({ step: "editorials", code, ...(tenantId === null ? {} : { tenantId }) });
  }
  return used;
}

/** Where the drain stands, and how many answers in a row did not move it. */
class CursorProgress {
  cursor: unknown = null;
  stalled = 0;
  readonly #seen = new Set<string>();

  /** An absent cursor, or one that was given before, is no progress: the next call repeats the last cursor. */
  take(next: unknown): void {
    const key = JSON.stringify(next);
    if (next === null || this.#seen.has(key)) {
      this.stalled += 1;
      return;
    }
    this.stalled = 0;
    this.#seen.add(key);
    this.cursor = next;
  }
}

// The cursor is a peer's text: shown only when it consists of harmless characters.
function printable(text: string): string {
  return /^[\w"{}[\]:,.=+/-]{1,200}$/.test(text) ? text : "<not printable>";
}
