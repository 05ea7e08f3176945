import { describe, expect, test } from "bun:test";
import type { AnalysisOutcome } from "../../../lib/providers/application/client.ts";
import { type CollectDependencies, collectSocial } from "../../../lib/weekly/report/collect.ts";

const THROTTLED: AnalysisOutcome = {
  status: "failed",
  code: "APP_HTTP_429",
  failure: "may_heal",
  retryAfterMs: 5_000,
};

/** Collects the connections `a`, `b` and `c` of one owner; `answers` are the application's, all others are good. */
async function collect(
  answers: Record<string, AnalysisOutcome>,
  changes: Partial<Pick<CollectDependencies, "throttled" | "leaseLeftMs">> = {},
) {
  const [asked, repeats]: [string[], number[]] = [[], []];
  let helped = 0;
  const dependencies: CollectDependencies = {
    application: {
      async analyzeWeek({ connectionId }) {
        asked.push(connectionId);
        return answers[connectionId] ?? { status: "ok" };
      },
    },
    stopped: () => null,
    refusal: async () => null,
    mustPutBack: () => false,
    mayRefuseWorker: () => true,
    leaseLeftMs: () => 20 * 60_000,
    throttled: null,
    waitUntil(call) {
      repeats.push(call.repeats);
      return 9_000;
    },
    onUnthrottled: () => (helped += 1),
    onCall: () => asked.length,
    onFailure() {},
    signal: new AbortController().signal,
    ...changes,
  };
  const collected = await collectSocial(dependencies, {
    scope: { tenantId: "tenant", userId: "user" },
    window: { start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z" },
    connections: ["a", "b", "c"].map((id) => ({ id, network: "instagram" })),
    known: new Map(),
  });
  return { collected, asked, repeats, helped };
}

describe("collectSocial()", () => {
  test("ends with the call that was throttled, and counts how often it was in a row", async () => {
    const first = await collect({ b: THROTTLED });
    expect(first).toMatchObject({ asked: ["a", "b"], repeats: [0], helped: 0 });
    const throttled = { connectionId: "b", times: 1, untilMs: 9_000 };
    expect(first.collected).toMatchObject({ status: "throttled", throttled });
    const again = await collect({ b: THROTTLED }, { throttled });
    expect(again).toMatchObject({ repeats: [1], helped: 0 });
    expect(again.collected).toMatchObject({ throttled: { ...throttled, times: 2 } });
  });

  test("says once that a wait has helped: when the call that waited is answered, whatever others get", async () => {
    const throttled = { connectionId: "a", times: 3, untilMs: 9_000 };
    expect(await collect({}, { throttled })).toMatchObject({ asked: ["a", "b", "c"], helped: 1 });
    expect(await collect({ b: THROTTLED }, { throttled })).toMatchObject({ repeats: [0], helped: 1 });
    expect(await collect({})).toMatchObject({ helped: 0 });
  });

  test("begins no call for which less than two minutes of the lease are left", async () => {
    for (const [leftMs, calls] of [
      [120_000, 3],
      [119_999, 0],
    ] as const) {
      const { asked, collected } = await collect({}, { leaseLeftMs: () => leftMs });
      expect([asked.length, collected.status]).toEqual([calls, "whole"]);
    }
  });
});
