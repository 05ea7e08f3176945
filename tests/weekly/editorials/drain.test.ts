import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Failure } from "../../../lib/weekly/context/summary.ts";
import { type DrainDependencies, drainEditorials } from "../../../lib/weekly/editorials/drain.ts";

type Answer = Partial<{
  truncated: boolean;
  nextCursor: unknown;
  llmCalls: number | null;
  failures: { tenantId: string | null; code: string }[];
}>;

/** Drains against scripted answers; the ledger holds what each call was sent. */
async function drain(answers: (Answer | { refused: string })[], max = 30, refusal: string | null = null) {
  const ledger: { cursor: unknown; maxLlmCalls: number }[] = [];
  const failures: Failure[] = [];
  const dependencies: DrainDependencies = {
    application: {
      async drainEditorials(input) {
        const answer = answers[ledger.length];
        ledger.push(input);
        if (!answer) throw new Error("called more often than scripted");
        if ("refused" in answer) return { status: "failed", code: answer.refused };
        const base = {
          nextCursor: undefined,
          reasonStopped: "batch",
          processed: 3,
          skipped: 0,
          failures: [],
        };
        return { status: "ok", answer: { truncated: false, llmCalls: 3, ...base, ...answer } };
      },
    },
    refusal: async () => refusal,
    signal: new AbortController().signal,
    fail: (failure) => failures.push(failure),
  };
  const summary = await drainEditorials(dependencies, max, async () => {});
  return { summary, ledger, failures };
}

describe("drainEditorials() follows the cursor", () => {
  test("it sends back each cursor unchanged and ends at the first answer that is not truncated", async () => {
    const { summary, ledger } = await drain([
      { truncated: true, nextCursor: "c1" },
      { truncated: true, nextCursor: { after: 7 } },
      { truncated: false },
    ]);
    expect(ledger.map(({ cursor }) => cursor)).toEqual([null, "c1", { after: 7 }]);
    expect(summary).toMatchObject({ status: "completed", code: null, calls: 3, llmCalls: 9, tenants: 9 });
  });

  test("fifty skipped batches without a model call are progress", async () => {
    const skipped = Array.from({ length: 50 }, (_, i) => ({
      truncated: true,
      nextCursor: `c${i}`,
      llmCalls: 0,
    }));
    const { summary } = await drain([...skipped, { truncated: false, llmCalls: 0 }], 3);
    expect(summary).toMatchObject({ status: "completed", calls: 51, llmCalls: 0 });
  });

  test.each([
    [
      "the same cursor",
      [{ nextCursor: "a" }, { nextCursor: "a" }, { nextCursor: "a" }, { nextCursor: "a" }],
      4,
    ],
    ["no cursor", [{ nextCursor: null }, {}, { nextCursor: null }], 3],
    [
      "a circle",
      [
        { nextCursor: "a" },
        { nextCursor: "b" },
        { nextCursor: "a" },
        { nextCursor: "b" },
        { nextCursor: "a" },
      ],
      5,
    ],
  ])("three answers in a row with %s end it without progress", async (_name, answers, calls) => {
    const { summary, failures } = await drain(
      answers.map((answer) => ({ truncated: true, llmCalls: 0, ...answer })),
    );
    expect(summary).toMatchObject({ status: "failed", code: "SOCIAL_EDITORIALS_NO_PROGRESS", calls });
    expect(failures).toEqual([{ step: "editorials", code: "SOCIAL_EDITORIALS_NO_PROGRESS" }]);
  });

  test("an advance between two standstills starts the count anew", async () => {
    const stall = { truncated: true, nextCursor: null, llmCalls: 0 };
    const { summary } = await drain([
      stall,
      stall,
      { truncated: true, nextCursor: "a", llmCalls: 0 },
      stall,
      stall,
      { truncated: false },
    ]);
    expect(summary.status).toBe("completed");
  });
});

describe("drainEditorials() keeps within the ceiling of model calls", () => {
  test("tenants that remain when the ceiling is used up are a failure before the next call", async () => {
    const { summary } = await drain(
      [
        { truncated: true, nextCursor: "a" },
        { truncated: true, nextCursor: "b" },
      ],
      6,
    );
    expect(summary).toMatchObject({
      status: "failed",
      code: "SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED",
      calls: 2,
      llmCalls: 6,
    });
  });

  test("reaching the ceiling with the last tenant is success", async () => {
    const { summary } = await drain([{ truncated: true, nextCursor: "a" }, { truncated: false }], 6);
    expect(summary).toMatchObject({ status: "completed", llmCalls: 6 });
  });

  test("an answer that does not say how many calls it used is charged a full batch", async () => {
    const { summary } = await drain([{ truncated: true, nextCursor: "a", llmCalls: null }], 3);
    expect(summary).toMatchObject({ code: "SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED", llmCalls: 3 });
  });

  test("an answer that used more than it was allowed is a failure, finished or not", async () => {
    const { summary } = await drain([{ truncated: false, llmCalls: 4 }], 30);
    expect(summary).toMatchObject({ status: "failed", code: "SOCIAL_EDITORIALS_LLM_OVERRUN", calls: 1 });
  });

  test("no sequence of answers makes the allowed calls exceed the ceiling", async () => {
    const answer = fc.record({
      truncated: fc.boolean(),
      nextCursor: fc.oneof(fc.constant(null), fc.string(), fc.integer()),
      llmCalls: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 })),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { minLength: 60, maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }).map((n) => n * 3),
        async (answers, max) => {
          const { summary, ledger } = await drain([...answers, { truncated: false }], max);
          expect(summary.llmCalls).toBeLessThanOrEqual(max);
          const charged = answers.map(({ llmCalls }) => llmCalls ?? 3);
          ledger.forEach(({ maxLlmCalls }, i) => {
            const before = charged.slice(0, i).reduce((sum, n) => sum + n, 0);
            expect(before + maxLlmCalls).toBeLessThanOrEqual(max);
          });
        },
      ),
    );
  });
});

describe("drainEditorials() ends in failure", () => {
  test("a refused call is not repeated and is charged what it was allowed", async () => {
    const { summary, ledger } = await drain([{ refused: "WORKER_HTTP_401" }]);
    expect(ledger).toHaveLength(1);
    expect(summary).toMatchObject({ status: "failed", code: "WORKER_HTTP_401", calls: 1, llmCalls: 3 });
  });

  test("failures of single tenants let the drain finish and then fail it", async () => {
    const tenantId = "11111111-1111-4111-8111-111111111111";
    const { summary, failures } = await drain([
      { truncated: true, nextCursor: "a", failures: [{ tenantId, code: "no_brand" }] },
      { truncated: false },
    ]);
    expect(summary).toMatchObject({
      status: "failed",
      code: "SOCIAL_EDITORIALS_TENANT_FAILURES",
      calls: 2,
      tenantFailures: 1,
    });
    expect(failures[0]).toEqual({ step: "editorials", code: "no_brand", tenantId });
  });

  test("nothing is called once Monday has ended", async () => {
    const { summary, ledger } = await drain([], 30, "MONDAY_ENDED");
    expect(ledger).toEqual([]);
    expect(summary).toMatchObject({ status: "failed", code: "MONDAY_ENDED", calls: 0 });
  });
});
