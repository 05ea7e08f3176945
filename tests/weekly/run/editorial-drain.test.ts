import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { isEndless, playedBy } from "../../cases/answer-case.ts";
import { EDITORIAL_ANSWERS } from "../../cases/application-answers.ts";
import type { EditorialBody } from "../../standins/application.ts";
import type { Scripted } from "../../standins/standin.ts";
import { CANARIES } from "../../support/canaries.ts";
import { seedOwner } from "../../support/seed.ts";
import { isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly, startOver } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const ENABLED = { enabled: true, maxLlmCalls: 30, secretPresent: true };

type Answer = {
  truncated: unknown;
  nextCursor?: unknown;
  llmCalls?: number | null;
  failures?: { tenantId: string | null; code: string }[];
};

/** An answer as the route gives it: a batch of three, three model calls. */
const answered = (answer: Answer) => ({
  reasonStopped: "batch",
  llmCalls: 3,
  processed: 3,
  skipped: 0,
  failures: [],
  ...answer,
});
const goOn = (nextCursor: unknown, llmCalls: number | null = 3) => ({
  truncated: true,
  nextCursor,
  llmCalls,
});
const done = (llmCalls: number | null = 3) => ({ truncated: false, llmCalls });

async function monday(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql);
  await seedOwner(weekly.db.sql);
  plantHeartbeat(weekly);
  return weekly;
}

/** What the route was asked, call by call. */
const asked = ({ application }: WeeklyFixture) =>
  application.routes.editorial.calls.map(({ body }) => body as EditorialBody);

describe("the editorial drain of runWeekly()", () => {
  test("follows the cursor after the last send to all owners, each route with its own secret", async () => {
    const weekly = await monday();
    weekly.application.editorials.push(answered(goOn("c1")), answered(goOn({ after: 7 }, 0)));
    const summary = await weekly.run({ editorials: ENABLED });
    expect(summary).toMatchObject({
      status: "success",
      heartbeat: "written",
      editorials: { status: "completed", code: null, calls: 3, llmCalls: 3, tenants: 6, tenantFailures: 0 },
    });
    expect(asked(weekly)).toEqual([
      { cursor: null, batchSize: 3, maxLlmCalls: 3 },
      { cursor: "c1", batchSize: 3, maxLlmCalls: 3 },
      { cursor: { after: 7 }, batchSize: 3, maxLlmCalls: 3 },
    ]);
    const secrets = (route: "analysis" | "editorial") =>
      new Set(weekly.application.routes[route].calls.map(({ headers }) => headers.authorization));
    expect(secrets("analysis")).toEqual(new Set([`Bearer ${CANARIES.TRIGGER_SECRET}`]));
    expect(secrets("editorial")).toEqual(new Set([`Bearer ${CANARIES.SOCIAL_EDITORIALS_CRON_SECRET}`]));
    const lastSend = Math.max(...weekly.email.ledger.map(({ atMs }) => atMs));
    expect(weekly.application.routes.editorial.calls[0]!.atMs).toBeGreaterThan(lastSend);
  });

  test.each(playedBy("run", EDITORIAL_ANSWERS))(
    "$name: one call, a whole batch of the budget; the step fails, everything else is done",
    async ({ answer, becomes }) => {
      const code = becomes.status === "failed" ? becomes.code : "";
      const weekly = await monday();
      weekly.application.routes.editorial.script = () => answer as Scripted;
      if (isEndless(answer)) weekly.timeoutsMs = { application: 1_000 };
      const summary = await weekly.run({ editorials: ENABLED });
      expect(summary).toMatchObject({
        status: "failed",
        exitCode: 1,
        heartbeat: "kept",
        error: null,
        editorials: { status: "failed", code, calls: 1, llmCalls: 3 },
        whatsapp: { sent: 2 },
        email: { sent: 2 },
      });
      expect(summary.failures.map((failure) => failure.code)).toContain(code);
      expect(weekly.application.routes.editorial.calls).toHaveLength(1);
      expect(isHeartbeatKept(weekly)).toBe(true);
    },
  );

  const NO_PROGRESS = "SOCIAL_EDITORIALS_NO_PROGRESS";
  const EXHAUSTED = "SOCIAL_EDITORIALS_LLM_BUDGET_EXHAUSTED";
  const stall = goOn(null, 0);

  test.each<[string, Answer[], Partial<WeeklySummary["editorials"]>, number?]>([
    [
      "fifty skipped batches without a model call",
      [...Array.from({ length: 50 }, (_, i) => goOn(`c${i}`, 0)), done(0)],
      { status: "completed", calls: 51, llmCalls: 0 },
      3,
    ],
    ["the same cursor four times", Array(4).fill(goOn("a", 0)), { code: NO_PROGRESS, calls: 4 }],
    [
      "no cursor three times",
      [stall, { truncated: true, llmCalls: 0 }, stall],
      { code: NO_PROGRESS, calls: 3 },
    ],
    [
      "a circle of cursors",
      ["a", "b", "a", "b", "a"].map((c) => goOn(c, 0)),
      { code: NO_PROGRESS, calls: 5 },
    ],
    [
      "an advance between standstills",
      [stall, stall, goOn("a", 0), stall, stall, done()],
      { status: "completed", code: null, calls: 6 },
    ],
    [
      "tenants that remain when the budget is used up",
      [goOn("a"), goOn("b")],
      { code: EXHAUSTED, llmCalls: 6 },
      6,
    ],
    [
      "the last tenant with the last of the budget",
      [goOn("a"), done()],
      { status: "completed", llmCalls: 6 },
      6,
    ],
    ["an answer that does not say what it used", [goOn("a", null)], { code: EXHAUSTED, llmCalls: 3 }, 3],
    ["more model calls than were allowed", [done(4)], { code: "SOCIAL_EDITORIALS_LLM_OVERRUN", calls: 1 }],
    [
      "a tenant that failed",
      [{ ...goOn("a"), failures: [{ tenantId: null, code: "no_brand" }] }, done()],
      { code: "SOCIAL_EDITORIALS_TENANT_FAILURES", calls: 2, tenantFailures: 1 },
    ],
  ])("%s: the drain ends as it should", async (_name, answers, expected, maxLlmCalls = 30) => {
    const weekly = shared();
    weekly.application.editorials.push(...answers.map(answered));
    const { editorials, exitCode, failures } = await weekly.run({ editorials: { ...ENABLED, maxLlmCalls } });
    const status = expected.status ?? "failed";
    expect(editorials).toMatchObject({ status, calls: answers.length, ...expected });
    expect(exitCode).toBe(status === "completed" ? 0 : 1);
    if (expected.code) expect(failures.map(({ code }) => code)).toContain(expected.code);
    if (expected.tenantFailures) expect(failures.map(({ code }) => code)).toContain("no_brand");
  });

  test("no sequence of answers makes the allowed model calls exceed the budget", async () => {
    const weekly = shared();
    const answer = fc.record({
      truncated: fc.constantFrom(true, true, true, false),
      nextCursor: fc.oneof(fc.constant(null), fc.string(), fc.integer()),
      llmCalls: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 3 })),
    });
    await fc.assert(
      fc
        .asyncProperty(
          fc.array(answer, { minLength: 20, maxLength: 20 }),
          fc.integer({ min: 1, max: 7 }).map((n) => n * 3),
          async (answers, maxLlmCalls) => {
            weekly.application.editorials.push(...answers.map(answered));
            const { editorials } = await weekly.run({ editorials: { ...ENABLED, maxLlmCalls } });
            weekly.application.editorials.length = 0;
            expect(editorials.llmCalls).toBeLessThanOrEqual(maxLlmCalls);
            const charged = answers.map(({ llmCalls }) => llmCalls ?? 3);
            asked(weekly).forEach((call, i) => {
              const spent = charged.slice(0, i).reduce((sum, n) => sum + n, 0);
              expect(spent + call.maxLlmCalls).toBeLessThanOrEqual(maxLlmCalls);
            });
          },
        )
        .beforeEach(() => startOver(weekly)),
      { numRuns: 20 },
    );
  });

  test("a drain without its secret makes no call with another one, and the run fails after everything else", async () => {
    const weekly = await monday();
    const editorials = { ...ENABLED, secretPresent: false };
    expect(await weekly.run({ editorials })).toMatchObject({
      exitCode: 1,
      heartbeat: "kept",
      editorials: { status: "failed", code: "SOCIAL_EDITORIALS_CRON_SECRET_MISSING", calls: 0 },
      whatsapp: { sent: 2 },
    });
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
  });

  test("a report that failed does not keep the drain from being made", async () => {
    const weekly = await monday();
    await weekly.db.sql.unsafe(`
      create function public.refuse_one() returns trigger language plpgsql as
        $$ begin raise exception 'refused'; end $$;
      create trigger refuse_one before update on weekly_performance_reports
        for each row when (new.status = 'completed') execute function public.refuse_one()`);
    try {
      expect(await weekly.run({ editorials: ENABLED })).toMatchObject({
        exitCode: 1,
        reports: { failed: 2 },
        editorials: { status: "completed", calls: 1 },
      });
    } finally {
      await weekly.db.sql.unsafe("drop function public.refuse_one() cascade");
    }
  });

  test("two runs at once: one drains, the other one ends at once with 0 and keeps the heartbeat", async () => {
    const weekly = await monday();
    weekly.application.editorials.push(...Array.from({ length: 5 }, (_, i) => answered(goOn(`c${i}`, 0))));
    const others: WeeklySummary[] = [];
    weekly.onEditorial = async () => {
      if (asked(weekly).length === 2) others.push(await weekly.run({ editorials: ENABLED }));
    };
    expect(await weekly.run({ editorials: ENABLED })).toMatchObject({
      exitCode: 0,
      editorials: { status: "completed", calls: 6 },
    });
    expect(others).toMatchObject([
      {
        status: "success",
        exitCode: 0,
        heartbeat: "kept",
        editorials: { status: "skipped", code: "SOCIAL_EDITORIALS_BUSY", calls: 0 },
      },
    ]);
    // The calls of one drain, never mixed with another's.
    expect(asked(weekly).map(({ cursor }) => cursor)).toEqual([null, "c0", "c1", "c2", "c3", "c4"]);
    expect((await weekly.run({ editorials: ENABLED })).editorials.status).toBe("completed");
  });
});
