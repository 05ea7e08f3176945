import { describe, expect, test } from "bun:test";
import type { AlertAnswer } from "../../../../lib/webhook/alert-answer.ts";
import { Intake } from "../../../../lib/webhook/delivery/intake/intake.ts";
import { createWebhookMetrics } from "../../../../lib/webhook/metrics/metrics.ts";
import type { AcceptOutcome } from "../../../../lib/webhook/state/contract.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";

const NO_TRIES = { issue: () => undefined, message: () => undefined };
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
    unkept: {
      knows: () => false,
      take: async () => null,
      handOver: (_requests, accept) => accept(NO_TRIES),
    },
    monotonicMs: () => 0,
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

describe("Intake without a state", () => {
  const SENT: AlertAnswer = {
    ...{ alertname: "a", status: "firing", squad: "infra", fingerprint: "f" },
    ...{ whatsapp: "sent", issue: "not_firing", durable: false },
  };

  /** An intake whose state and memory return these; `asked` has who was asked. */
  function intakeWith(outcome: AcceptOutcome, { isKnown = false }: { isKnown?: boolean } = {}) {
    const asked: string[] = [];
    const intake = new Intake({
      state: {
        async accept(requests) {
          asked.push("state");
          return requests.map(() => outcome);
        },
      },
      dispatcher: { look: async () => {}, inFlight: () => null },
      unkept: {
        knows: () => isKnown,
        async take(alerts) {
          asked.push("memory");
          return alerts.map(() => SENT);
        },
        handOver: (_requests, accept) => {
          asked.push("hand-over");
          return accept(NO_TRIES);
        },
      },
      monotonicMs: () => 0,
      metrics: createWebhookMetrics({ version: "test" }),
      sleep: async () => {},
    });
    return { asked, take: () => intake.take([resolvedAlert()]) };
  }

  test.each([
    ["what the state cannot keep", { refused: "state_unavailable" }, true],
    ["nothing that the state may have kept", { refused: "state_unavailable", mayBeKept: true }, false],
    ["nothing when too much waits", { refused: "outbox_full" }, false],
  ] as [string, AcceptOutcome, boolean][])("sends from memory %s", async (_what, outcome, isSent) => {
    const { take, asked } = intakeWith(outcome);
    expect(await take()).toEqual(isSent ? [SENT] : null);
    expect(asked).toEqual(["hand-over", "state", ...(isSent ? ["memory"] : [])]);
  });

  test("gives the state nothing that is on its way from memory", async () => {
    const { take, asked } = intakeWith({ accepted: [] }, { isKnown: true });
    expect(await take()).toEqual([SENT]);
    expect(asked).toEqual(["memory"]);
  });
});
