/** Whom a run asks to learn whether the application works, and how often: its peers are replaced, to see each call. */
import { describe, expect, test } from "bun:test";
import type { Run } from "../../../lib/weekly/context/run.ts";
import { createStop } from "../../../lib/weekly/context/run-stop.ts";
import { createTally } from "../../../lib/weekly/context/summary.ts";
import { askReported, askReportedOfRefusal } from "../../../lib/weekly/outage/ask-reported.ts";
import { MONDAY, WEEK } from "../../support/seed.ts";
import { silentLog } from "../../support/silent-log.ts";
import { until } from "../../support/until.ts";

const NEVER = () => false;

/** A run with so many complete reports, whose ids are 1, 2 and so on; each call ends as `answer` says. */
function runWith(
  count: number,
  {
    runId = "0",
    now = MONDAY,
    tenantId = null as string | null,
    answer = async () => {},
    hasGood = NEVER,
  } = {},
) {
  const asked: string[] = [];
  const listed: unknown[] = [];
  const recorded: unknown[] = [];
  const signals: unknown[] = [];
  const stop = createStop();
  const ids = Array.from({ length: count }, (_, i) => String(i + 1));
  const run = {
    dependencies: {
      ...{ runId, log: silentLog, monotonicMs: () => 0, sleep: async () => {} },
      store: {
        now: async () => now,
        listAnalysedConnections: async (
          _window: unknown,
          page: { tenantId: string | null; after: string; limit: number },
        ) => {
          listed.push(page.tenantId);
          return ids
            .filter((id) => id > page.after || page.after.startsWith("0000"))
            .slice(0, page.limit)
            .map((id) => ({
              reportId: id,
              scope: { tenantId: `t${id}`, userId: id },
              connection: { id: `c${id}`, network: "instagram" },
            }));
        },
        readEvidence: async () => ({ analyses: [] }),
      },
      application: {
        analyzeWeek: async ({ userId }: { userId: string }, signal: AbortSignal) => {
          asked.push(userId);
          signals.push(signal);
          await answer();
          return { status: "ok" };
        },
      },
    },
    ...{ options: { tenantId }, window: WEEK, stop, tally: createTally() },
    admission: {
      ...{ begin: () => asked.length, hasGood },
      record: (_turn: unknown, what: unknown) => recorded.push(what),
    },
  } as unknown as Run;
  return { run, asked, listed, recorded, signals, stop };
}

describe("askReported()", () => {
  test.each([
    ["the next two in the order of the reports", 4, "1", ["2", "3"]],
    ["after the last one the first ones, two in all", 4, "3", ["4", "1"]],
    ["nobody twice", 1, "0", ["1"]],
    ["nobody where no report is complete", 0, "0", []],
  ])("asks %s", async (_what, count, runId, expected) => {
    const { run, asked } = runWith(count, { runId });
    await askReported(run, NEVER);
    expect(asked).toEqual(expected);
  });

  test("ends as soon as enough is known", async () => {
    const { run, asked } = runWith(4);
    await askReported(run, () => asked.length > 0);
    expect(asked).toEqual(["1"]);
  });

  test("asks nobody after Monday", async () => {
    const { run, asked, stop } = runWith(4, { now: WEEK.end.replace("23T03", "24T03") });
    await askReported(run, NEVER);
    expect([asked, stop.reason()?.code]).toEqual([[], "MONDAY_ENDED"]);
  });

  test("asks for the one tenant alone that a run is for; its calls count, and end with the run", async () => {
    const { run, listed, recorded, signals, stop } = runWith(2, { tenantId: "t1" });
    await askReported(run, NEVER);
    expect(listed).toEqual(["t1"]);
    expect(run.tally.social.calls).toBe(2);
    expect(signals.map((signal) => signal === stop.abandon)).toEqual([true, true]);
    expect(recorded).toMatchObject([
      { verdict: "no_analysis", code: "analysis_missing", beganAt: 0 },
      { verdict: "no_analysis", code: "analysis_missing", beganAt: 1 },
    ]);
  });

  test("who comes while others ask waits for their answer, and asks anew only when it is not enough", async () => {
    const gate = Promise.withResolvers<void>();
    const { run, asked } = runWith(4, { answer: () => gate.promise });
    const first = askReported(run, NEVER);
    await until("the first call", () => asked.length === 1);
    const others = [2, 3, 3].map((count) => askReported(run, () => asked.length >= count));
    gate.resolve();
    await Promise.all([first, ...others]);
    expect(asked).toEqual(["1", "2", "3"]);
  });
});

test("askReportedOfRefusal() asks once in a run", async () => {
  const { run, asked } = runWith(4);
  await Promise.all([askReportedOfRefusal(run), askReportedOfRefusal(run)]);
  await askReportedOfRefusal(run);
  expect(asked).toEqual(["1", "2"]);
});
