import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import type { TestReport } from "../../../lib/webhook/test-alert.ts";
import { aPositiveInteger, aWebUrl, flag, option } from "../../args/options.ts";
import { type CommandContext, defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";

/**
 * `opsctl webhook test`: one labelled alert through the running service, whose state is only read to follow
 * it.
 */
export const webhookTest = defineCommand({
  notes: "Creates a real issue, unless --without-issue is given; close it manually.",
  args: {
    url: option("url", "Where the service takes alerts (default: this host, WEBHOOK_PORT)", {
      check: aWebUrl,
    }),
    "without-issue": flag("Only a WhatsApp message"),
    wait: option("seconds", "How long to follow what is queued", { default: "30", check: aPositiveInteger }),
  },
  example: "opsctl webhook test --without-issue",

  async run(args, context) {
    const { loadTestConfig } = await import("../../../lib/webhook/config.ts");
    const { url, secret, state: stateConfig } = await loadTestConfig(context.env, args.url);
    const { renderTestReport, sendTestAlert } = await import("../../../lib/webhook/test-alert.ts");
    const { openState } = await import("../../wiring/webhook/state.ts");
    const state = await openState(stateConfig, context.log, "opsctl webhook test").catch(() =>
      warnUnseen(context),
    );
    try {
      const report = await sendTestAlert(
        {
          url: new URL(url),
          secret,
          fingerprint: `opsctl-test-${randomUUID()}`,
          nowIso: new Date().toISOString(),
          state,
          waitMs: Number(args.wait) * 1000,
          sleep: (ms) => delay(ms),
        },
        { withIssue: args["without-issue"] !== true },
      );
      const exitCode = isDelivered(report) ? EXIT.ok : EXIT.failed;
      return { exitCode, fields: report, text: (screen) => renderTestReport(report, screen) };
    } finally {
      await state?.close();
    }
  },
});

function warnUnseen({ log }: CommandContext): State | null {
  log.warn("The webhook's state cannot be read from here: queued rows are not followed");
  return null;
}

function isDelivered({ whatsapp, issue }: TestReport): boolean {
  return whatsapp === "sent" && (issue === "created" || issue === "not_firing");
}
