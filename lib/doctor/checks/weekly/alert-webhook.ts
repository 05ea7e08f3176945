import { OpsError } from "../../../platform/errors.ts";
import { checkAlertWebhook } from "../../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../../weekly/announce/settings.ts";
import type { Check } from "../../context/check.ts";
import { fail, notSetUp, pass } from "../../finding.ts";
import { problemsOf, withoutSettings } from "../settings/configuration.ts";

const command = "weekly";
const ANNOUNCEMENT = "the announcement of a run that fails, to an alert webhook";

/** Whether a failed run could be announced. */
export const ALERT_WEBHOOK_CHECK: Check = {
  command,
  name: "alert webhook",
  async run(context, signal) {
    const { env, file } = await context.environment(command);
    if (file.problem !== null) return withoutSettings(command);
    try {
      const url = await loadAlertWebhook(env);
      if (url === null) return [notSetUp(ANNOUNCEMENT, `Set ${ALERT_WEBHOOK} in ${file.path}`)];
      const secret = await findWebhookSecret(env);
      const { callLimitMs } = context.dependencies;
      const state = await checkAlertWebhook({ url, secret, timeoutMs: callLimitMs, signal });
      if (state.status === "ready") return [pass("the webhook answers and takes the secret")];
      const mend =
        state.cause === "http_401"
          ? "Make WEBHOOK_SECRET here the one of the webhook: opsctl secret set WEBHOOK_SECRET, then systemctl reload opsctl-webhook.service"
          : `systemctl status opsctl-webhook; or correct ${ALERT_WEBHOOK} in ${file.path}`;
      return [
        fail("ANNOUNCE_FAILED", `ANNOUNCE_FAILED: a failed run could not be announced, ${state.cause}`, mend),
      ];
    } catch (error) {
      if (error instanceof OpsError) return problemsOf(error, { env, file });
      throw error;
    }
  },
};
