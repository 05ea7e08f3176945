import { expect, test } from "bun:test";
import { silentLog } from "../../lib/platform/log.ts";
import type { AttemptResult } from "../../lib/webhook/attempt.ts";
import { Lane } from "../../lib/webhook/lane.ts";
import type { DueRow } from "../../lib/webhook/state.ts";
import { createWebhookMetrics } from "../../lib/webhook/webhook-metrics.ts";
import { alertWith } from "./alert.ts";

test("a look that is asked for in the very instant in which another ends is not lost", async () => {
  let looks = 0;
  const lane: Lane = new Lane({
    kind: "message",
    state: {
      due() {
        looks += 1;
        const rows = Promise.resolve<DueRow[]>([]);
        // Runs when the lane has seen that nobody asked again, and before it says so.
        if (looks === 1) void rows.then(() => queueMicrotask(() => void lane.pump({ issueGraceMs: 0 })));
        return rows;
      },
      settle: () => Promise.reject(new Error("Nothing is delivered here")),
    },
    attempt: () => Promise.reject(new Error("Nothing is delivered here")),
    places: 1,
    metrics: createWebhookMetrics({ version: "test" }),
    log: silentLog,
    monotonicMs: () => 0,
    random: () => 0,
    sleep: () => Promise.resolve(),
    onFree() {},
  });
  await lane.pump({ issueGraceMs: 0 });
  expect(looks).toBe(2);
});

test("a hold is told with its cause, once a reason, and ends with a failure of one message's own", async () => {
  const told: unknown[] = [];
  const down = { as: "failed", peerDown: true, holds: true, retryAfterMs: null } as const;
  const closed = { ...down, code: "sem_instancia_gateway", cause: "instance_close" };
  const results: AttemptResult[] = [
    { ...down, code: "gateway_license_required" },
    closed,
    closed,
    { as: "failed", code: "meta_131026", peerDown: false, holds: false, retryAfterMs: null },
  ];
  const holds: (string | null)[] = [];
  let nowMs = 0;
  const lane: Lane = new Lane({
    kind: "message",
    state: {
      due: async () => [dueRow],
      settle: async () => void holds.push(lane.hold),
    },
    attempt: async () => results.shift()!,
    places: 1,
    metrics: createWebhookMetrics({ version: "test" }),
    log: {
      ...silentLog,
      error: (msg, { code, cause } = {}) => void told.push([msg, code, cause]),
    },
    monotonicMs: () => nowMs,
    random: () => 0,
    sleep: () => Promise.resolve(),
    onFree() {},
  });
  while (results.length > 0) {
    nowMs += 60_000;
    await lane.pump({ issueGraceMs: 0 });
    await lane.inFlight(dueRow.id);
  }
  expect(holds).toEqual(["gateway_license_required", closed.code, closed.code, null]);
  expect(told).toEqual([
    ["The peer refuses us: its alerts wait", "gateway_license_required", undefined],
    ["The peer refuses us: its alerts wait", closed.code, closed.cause],
  ]);
});

const dueRow: DueRow = {
  id: 1,
  kind: "message",
  alert: alertWith(),
  attempts: 0,
  ageMs: 0,
  claimedAtMs: null,
  issueUrl: null,
};
