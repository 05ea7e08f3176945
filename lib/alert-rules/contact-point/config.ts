import * as v from "valibot";
import { type Kind, url } from "../../platform/config/kinds.ts";
import { loadSettings } from "../../platform/config/load.ts";
import { withWebhookSettings } from "../../platform/config/webhook-settings.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { GrafanaConfig } from "../config.ts";
import type { WantedPoint } from "./contact-point.ts";

/** The settings of `contact-point apply`. */
export type ContactPointConfig = { grafana: GrafanaConfig; point: WantedPoint };

/** The service accepts alerts at this path only; a proxy may put more before it. */
const webhookUrl: Kind<string> = {
  schema: (env) =>
    v.pipe(
      url.schema(env),
      v.check((text) => new URL(text).pathname.endsWith("/webhook"), "does not end in /webhook"),
    ),
  expected: "the https URL at which Grafana reaches the webhook",
  example: "https://alerts.example.com/webhook",
};

/**
 * Everything that `contact-point apply` needs.
 *
 * Behaviour: the webhook's secret is found as the service finds it.
 * Errors:    CONFIG_INVALID with all problems at once, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED,
 *            SECRET_FILE_UNREADABLE.
 */
export async function loadContactPointConfig(
  env: Environment,
  given: { url: string; receiver: string | undefined },
): Promise<ContactPointConfig> {
  const receiver = given.receiver === undefined ? {} : { MONITORING_RECEIVER: given.receiver };
  const values = await loadSettings(
    "alert-rules",
    {
      required: ["MONITORING_URL", "MONITORING_TOKEN", "MONITORING_RECEIVER", "WEBHOOK_SECRET"],
      options: { "--url": { kind: webhookUrl, text: given.url } },
    },
    { ...withWebhookSettings("alert-rules", env), ...receiver },
  );
  return {
    grafana: { url: values.MONITORING_URL, token: values.MONITORING_TOKEN },
    point: { name: values.MONITORING_RECEIVER, url: values["--url"], bearer: values.WEBHOOK_SECRET },
  };
}
