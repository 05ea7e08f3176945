import { checkAlertWebhook } from "../../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../../weekly/announce/settings.ts";
import type { Check } from "../../context/check.ts";
import { command, fail, notSetUp, pass } from "../../finding.ts";
import { withoutSettings } from "../settings/configuration.ts";

const of = "weekly";
const ANNOUNCEMENT = "the announcement of a run that fails, to an alert webhook";

const SAME_SECRET = command(
  "opsctl secret set WEBHOOK_SECRET && systemctl reload opsctl-webhook.service",
  "Make WEBHOOK_SECRET here the one of the webhook:",
);

/** Whether a failed run could be announced. */
export const ALERT_WEBHOOK_CHECK: Check = {
  command: of,
  name: "alert webhook",
  service: "the alert webhook",
  async run(context, signal) {
    const settings = await context.settings(of, async (env) => {
      const url = await loadAlertWebhook(env);
      return url === null ? null : { url, secret: await findWebhookSecret(env) };
    });
    if (settings.status !== "ok") return withoutSettings(settings);
    const { path } = (await context.environment(of)).file;
    if (settings.value === null) return [notSetUp(ANNOUNCEMENT, `Set ${ALERT_WEBHOOK} in ${path}`)];
    const timeoutMs = context.dependencies.callLimitMs;
    const state = await checkAlertWebhook({ ...settings.value, timeoutMs, signal });
    if (state.status === "ready") return [pass("the webhook answers and takes the secret")];
    const fix =
      state.cause === "http_401"
        ? SAME_SECRET
        : command("systemctl status opsctl-webhook", `Correct ${ALERT_WEBHOOK} in ${path}, or see:`);
    return [fail("ANNOUNCE_FAILED", `a failed run could not be announced, ${state.cause}`, fix)];
  },
};
