import { OpsError } from "../../../platform/errors.ts";
import { checkAlertWebhook } from "../../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../../weekly/announce/settings.ts";
import type { Check } from "../../context/check.ts";
import { command, fail, notSetUp, pass } from "../../finding.ts";
import { notRead, withoutSettings } from "../settings/configuration.ts";

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
    const { env, file } = await context.environment(of);
    if (file.problem !== null) return notRead(file);
    try {
      const url = await loadAlertWebhook(env);
      if (url === null) return [notSetUp(ANNOUNCEMENT, `Set ${ALERT_WEBHOOK} in ${file.path}`)];
      const secret = await findWebhookSecret(env);
      const { callLimitMs } = context.dependencies;
      const state = await checkAlertWebhook({ url, secret, timeoutMs: callLimitMs, signal });
      if (state.status === "ready") return [pass("the webhook answers and takes the secret")];
      const fix =
        state.cause === "http_401"
          ? SAME_SECRET
          : command("systemctl status opsctl-webhook", `Correct ${ALERT_WEBHOOK} in ${file.path}, or see:`);
      return [fail("ANNOUNCE_FAILED", `a failed run could not be announced, ${state.cause}`, fix)];
    } catch (error) {
      if (error instanceof OpsError && error.settings !== undefined) return withoutSettings(error);
      throw error;
    }
  },
};
