/**
 * `opsctl webhook test`: one labelled alert through the real path of a running service.
 *
 * Reads:  the webhook's state, to follow a message or issue that is queued.
 * Writes: nothing itself; the service keeps the alert as any other, sends its message and creates its issue.
 * Calls:  the service, `POST /webhook`.
 * Env:    WEBHOOK_SECRET, OPSCTL_STATE_DIR, STATE_DIRECTORY, OPSCTL_STATE_URL, OPSCTL_ALLOW_PLAIN_HTTP.
 * Exits:  0 everything was delivered, 1 something was not delivered, or not yet, 2 usage, 3 configuration.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, `fingerprint`, `whatsapp`: sent, queued, failed or in_doubt,
 *         `issue`: created, queued, refused, failed or not_firing, `issueId`, `codes` (`message`, `issue`: why not
 *         yet).
 */
import { randomUUID } from "node:crypto";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { State } from "../../../lib/webhook/state/contract.ts";
import type { TestReport } from "../../../lib/webhook/test-alert.ts";
import { type CommandContext, defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { aPositiveInteger, aWebUrl } from "../../framework/usage/value-checks.ts";

/** The command; see the head of this file. */
export const webhookTest = defineCommand({
  meta: { name: "test", description: "Send one labelled test alert through a running service" },
  account: "service",
  notes: "Creates a real issue, unless --without-issue is given; close it by hand.",
  args: {
    url: {
      type: "string",
      valueHint: "url",
      default: "http://127.0.0.1:9300/webhook",
      description: "Where the service takes alerts",
    },
    "without-issue": { type: "boolean", description: "Only a WhatsApp message" },
    wait: {
      type: "string",
      valueHint: "seconds",
      default: "30",
      description: "How long to follow what is queued",
    },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  checks: { url: aWebUrl, wait: aPositiveInteger },
  example: "opsctl webhook test --without-issue",

  async run(args, context) {
    const { loadTestConfig } = await import("../../../lib/webhook/config.ts");
    const { secret, state: stateConfig } = await loadTestConfig(context.env, args.url);
    const { renderTestReport, sendTestAlert } = await import("../../../lib/webhook/test-alert.ts");
    const { keepLoopbackOffProxies } = await import("../../../lib/platform/http/proxy.ts");
    keepLoopbackOffProxies(process.env);
    const { openState } = await import("../../wiring/webhook/state.ts");
    const state = await openState(stateConfig, context.log, "opsctl webhook test").catch(() =>
      warnUnseen(context),
    );
    try {
      const report = await sendTestAlert(
        {
          url: new URL(args.url),
          secret,
          fingerprint: `opsctl-test-${randomUUID()}`,
          nowIso: new Date().toISOString(),
          state,
          waitMs: Number(args.wait) * 1000,
          sleep: (ms) => delay(ms),
          monotonicMs: () => performance.now(),
        },
        { withIssue: args["without-issue"] !== true },
      );
      const exitCode = isDelivered(report) ? EXIT.ok : EXIT.failed;
      return outcomeOf({
        command: "webhook test",
        exitCode,
        fields: report,
        text: renderTestReport(report),
      });
    } finally {
      await state?.close();
    }
  },
});

function warnUnseen({ log }: CommandContext): State | null {
  log.warn("The webhook's state cannot be looked into from here: what is queued is not followed");
  return null;
}

function isDelivered({ whatsapp, issue }: TestReport): boolean {
  return whatsapp === "sent" && (issue === "created" || issue === "not_firing");
}
