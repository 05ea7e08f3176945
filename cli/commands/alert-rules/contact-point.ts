/**
 * `opsctl alert-rules contact-point apply`: the way from the platform to the webhook.
 *
 * Reads:  the platform's contact points; the webhook's environment file, for its secret.
 * Writes: one webhook integration of that name, when something visible differs or with `--rotate`; it deletes nothing.
 * Calls:  the platform.
 * Env:    MONITORING_URL, MONITORING_TOKEN, MONITORING_RECEIVER, WEBHOOK_SECRET, OPSCTL_WEBHOOK_ENV_FILE,
 *         OPSCTL_ALLOW_PLAIN_HTTP.
 * Exits:  0 done, 1 the platform failed or refused, 2 usage, 3 settings missing or invalid.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, `name`, `uid`, `result`: created, updated or unchanged, `changes`
 *         of `path`, `from`, `to`, `secret`: written, equal or not_compared.
 */
import { defineCommand } from "../../framework/command.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { aWebUrl } from "../../framework/usage/value-checks.ts";

/** The command; see the head of this file. */
export const alertRulesContactPointApply = defineCommand({
  meta: { name: "apply", description: "Make the webhook's contact point on the platform, or set it right" },
  account: "service",
  notes:
    "Writes only what differs. The platform never shows the stored secret: after a change of WEBHOOK_SECRET add --rotate.",
  args: {
    url: {
      type: "string",
      valueHint: "url",
      required: true,
      description: "Where the platform reaches the webhook: https://<alert host>/webhook",
    },
    receiver: {
      type: "string",
      valueHint: "name",
      description: "Name of the contact point, instead of MONITORING_RECEIVER",
    },
    rotate: { type: "boolean", description: "Write the secret even when nothing differs" },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  checks: { url: aWebUrl },
  example:
    "opsctl alert-rules contact-point apply --receiver opsctl-webhook \\\n" +
    "    --url https://alerts.example.com/webhook",

  async run(args, { env, log }) {
    const { loadContactPointConfig } = await import("../../../lib/alert-rules/contact-point/config.ts");
    const { platform, point } = await loadContactPointConfig(env, { url: args.url, receiver: args.receiver });
    const { applyPoint } = await import("../../../lib/alert-rules/contact-point/apply.ts");
    const { renderPoint } = await import("../../../lib/alert-rules/contact-point/render.ts");
    const { openGrafana } = await import("../../wiring/grafana.ts");
    const isRotation = args.rotate === true;
    const applied = await applyPoint(openGrafana(platform, log), point, { isRotation });
    log.info("The contact point was handled", { uid: applied.uid, result: applied.result });
    return outcomeOf({
      command: "alert-rules contact-point apply",
      fields: applied,
      text: renderPoint(applied, await standardScreen(env)),
    });
  },
});
