/** The second pass by itself: whom it takes, in which order, and what it remembers of each turn. */
import { describe, expect, test } from "bun:test";
import type { Owner } from "../../../lib/weekly/context/owner.ts";
import type { Run } from "../../../lib/weekly/context/run.ts";
import { createStop, RUN_INTERRUPTED } from "../../../lib/weekly/context/run-stop.ts";
import { createTally } from "../../../lib/weekly/context/summary.ts";
import { createPutBackOwners } from "../../../lib/weekly/outage/put-back.ts";
import { type OwnerStatus, takeAgain } from "../../../lib/weekly/outage/take-again.ts";
import { MONDAY, WEEK } from "../../support/seed.ts";
import { silentLog } from "../../support/silent-log.ts";

const ANSWERS = new Map([["c", { code: "APP_HTTP_404", failure: "lasting" as const, beganAt: 1 }]]);

/** A run that has put back these owners; those in `isAsked` were asked since the last good call. */
function runWith(users: string[], { isAsked = [] as string[] } = {}) {
  const passes: boolean[] = [];
  const turns: Owner[] = [];
  const progress = { advanced: 0 };
  const listed: string[] = [];
  const putBack = createPutBackOwners();
  const put = (userId: string) =>
    putBack.add({
      scope: { tenantId: "t", userId },
      reportId: userId,
      code: "social_retry",
      answers: ANSWERS,
    });
  for (const user of users) put(user);
  const stop = createStop();
  const run = {
    ...{ putBack, stop, tally: createTally(), busyScopes: [], window: WEEK },
    options: { concurrency: 1, tenantId: null },
    admission: {
      endPass: ({ hasDecided }: { hasDecided: boolean }) => passes.push(hasDecided),
      isAsked: (key: string) => isAsked.some((user) => key.endsWith(user)),
      isFlowing: () => true,
    },
    dependencies: {
      ...{ runId: "0", log: silentLog, monotonicMs: () => 0, sleep: async () => {} },
      progress: {
        advance(count: number) {
          progress.advanced += count;
        },
      },
      store: {
        now: async () => MONDAY,
        listAnalysedConnections: async () => {
          listed.push(turns.at(-1)?.scope.userId ?? "nobody yet");
          return [];
        },
      },
    },
  } as unknown as Run;
  const report = (statusOf: (owner: Owner) => OwnerStatus) => (owner: Owner) => {
    turns.push(owner);
    const status = statusOf(owner);
    if (status === "put_back") put(owner.scope.userId);
    return Promise.resolve(status);
  };
  const taken = () => turns.map(({ scope }) => scope.userId);
  return { run, passes, turns, taken, progress, report, listed, stop };
}

describe("takeAgain()", () => {
  test("takes each with its remembered answers, on its second chance, until all are decided", async () => {
    const { run, passes, turns, taken, progress, report } = runWith(["1", "2", "3"]);
    const left = new Map([
      ["2", 2],
      ["3", 1],
    ]);
    await takeAgain(
      run,
      report(({ scope: { userId } }) => {
        const more = left.get(userId) ?? 0;
        left.set(userId, more - 1);
        return more > 0 ? "put_back" : "done";
      }),
    );
    expect(taken()).toEqual(["1", "2", "3", "2", "3", "2"]);
    expect(turns.every(({ isSecondChance, answers }) => isSecondChance && answers === ANSWERS)).toBe(true);
    expect(passes).toEqual([true, true, true]);
    expect(progress.advanced).toBe(3);
  });

  test("says of a pass that decided about nobody that it did not", async () => {
    const { run, passes, report } = runWith(["1", "2"]);
    const again = ["put_back", "put_back", "done", "done"] as const;
    let turns = 0;
    await takeAgain(
      run,
      report(() => {
        turns += 1;
        return again[turns - 1]!;
      }),
    );
    expect(passes).toEqual([true, false]);
  });

  test("takes those first who were not asked lately, and asks complete reports before the others", async () => {
    const { run, taken, report, listed } = runWith(["1", "2", "3"], { isAsked: ["1", "2"] });
    await takeAgain(
      run,
      report(() => "done"),
    );
    expect(taken()).toEqual(["3", "1", "2"]);
    expect(new Set(listed)).toEqual(new Set(["3", "1"]));
  });

  test("remembers whom another process holds, who has had the turn all the same", async () => {
    const { run, progress, report } = runWith(["1", "2"]);
    await takeAgain(
      run,
      report(({ scope }) => (scope.userId === "1" ? "busy" : "done")),
    );
    expect(run.busyScopes).toEqual([{ tenantId: "t", userId: "1" }]);
    expect(progress.advanced).toBe(2);
  });

  test("keeps whom a run that stops has not taken", async () => {
    const { run, taken, progress, report, stop } = runWith(["1", "2", "3"]);
    await takeAgain(
      run,
      report(() => {
        stop.because(RUN_INTERRUPTED);
        return "not_taken";
      }),
    );
    expect(taken()).toEqual(["1"]);
    expect([run.putBack.count(), progress.advanced]).toEqual([3, 0]);
  });
});
