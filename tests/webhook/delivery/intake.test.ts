import { describe, expect, test } from "bun:test";
import { Intake } from "../../../lib/webhook/delivery/intake.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import type { AcceptOutcome } from "../../../lib/webhook/state/contract.ts";
import { resolvedAlert } from "../support/sample-alert.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** An intake whose state calls `onDecided` when it has just accepted. */
function intakeThatTells(onDecided: () => void): Intake {
  let row = 0;
  return new Intake({
    state: {
      async accept(requests): Promise<AcceptOutcome[]> {
        onDecided();
        return requests.map((alerts) => ({
          accepted: alerts.map((alert) => {
            row += 1;
            return { alert, messageRow: row, isRepeat: false, issue: { status: "not_firing" } };
          }),
        }));
      },
    },
    dispatcher: { look: async () => {}, inFlight: () => null },
    metrics: createWebhookMetrics({ version: "test" }),
    sleep: async () => {},
  });
}

describe("Intake", () => {
  test("forgets no request that arrives while a commit ends, at whatever instant of it", async () => {
    for (let ticks = 0; ticks < 30; ticks += 1) {
      let isAnswered = false;
      let isFirst = true;
      const intake = intakeThatTells(() => {
        if (!isFirst) return;
        isFirst = false;
        void (async () => {
          for (let tick = 0; tick < ticks; tick += 1) await null;
          await intake.take([resolvedAlert()]);
          isAnswered = true;
        })();
      });
      await intake.take([resolvedAlert()]);
      for (let i = 0; i < 20 && !isAnswered; i += 1) await turn();
      expect([ticks, isAnswered]).toEqual([ticks, true]);
    }
  });
});
