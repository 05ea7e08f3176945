import * as v from "valibot";
import { readWebhookEnv, webhookEnvPath } from "../../host/webhook-env.ts";
import {
  absolutePath,
  httpBaseUrl,
  loadConfig,
  optional,
  type Rule,
  required,
  requiredSecret,
} from "../../platform/config/config.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { contactPointName, PLATFORM_SETTINGS, type PlatformConfig } from "../config.ts";
import type { WantedPoint } from "./changes.ts";

/** The settings of `contact-point apply`. */
export type ContactPointConfig = { platform: PlatformConfig; point: WantedPoint };

/** The service takes alerts at this path and at no other; a proxy may put more before it. */
const webhookUrl: Rule<string> = {
  schema: (env) =>
    v.pipe(
      httpBaseUrl.schema(env),
      v.check((url) => new URL(url).pathname.endsWith("/webhook"), "does not end in /webhook"),
    ),
  expected: "the https URL at which the platform reaches the webhook",
  example: "https://alerts.example.com/webhook",
};

/**
 * Everything that `contact-point apply` needs.
 *
 * Behaviour: the webhook's secret is taken from the environment, else from the webhook's own environment file, else
 *            from where secrets are, as the service finds it.
 * Errors:    CONFIG_INVALID with all problems at once, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED,
 *            SECRET_FILE_UNREADABLE.
 */
export async function loadContactPointConfig(
  env: Environment,
  given: { url: string; receiver: string | undefined },
): Promise<ContactPointConfig> {
  const receiver = given.receiver === undefined ? {} : { MONITORING_RECEIVER: given.receiver };
  const values = await loadConfig(
    {
      ...PLATFORM_SETTINGS,
      MONITORING_RECEIVER: required(contactPointName),
      "--url": required(webhookUrl),
      WEBHOOK_SECRET: requiredSecret(),
    },
    { ...(await withWebhookSecret(env)), ...receiver, "--url": given.url },
  );
  return {
    platform: { url: values.MONITORING_URL, token: values.MONITORING_TOKEN },
    point: { name: values.MONITORING_RECEIVER, url: values["--url"], bearer: values.WEBHOOK_SECRET },
  };
}

async function withWebhookSecret(env: Environment): Promise<Environment> {
  if ((env.WEBHOOK_SECRET ?? "").trim() !== "") return env;
  const { OPSCTL_WEBHOOK_ENV_FILE: given } = await loadConfig(
    { OPSCTL_WEBHOOK_ENV_FILE: optional(absolutePath) },
    env,
  );
  const path = webhookEnvPath(given, env);
  const secret = readWebhookEnv(path, { reader: "the alert rules" }).get("WEBHOOK_SECRET") ?? "";
  return secret.trim() === "" ? env : { ...env, WEBHOOK_SECRET: secret };
}
