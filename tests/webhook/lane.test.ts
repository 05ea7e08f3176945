import { expect, test } from "bun:test";
import { silentLog } from "../../lib/platform/log.ts";
import { Lane } from "../../lib/webhook/lane.ts";
import type { DueRow } from "../../lib/webhook/state.ts";
import { createWebhookMetrics } from "../../lib/webhook/webhook-metrics.ts";

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
