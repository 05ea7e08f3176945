import { readWebhookEnv, webhookEnvPath } from "../../host/webhook-env.ts";
import {
  absolutePath,
  httpBaseUrl,
  loadConfig,
  optional,
  optionalSecret,
  type Rule,
  requiredSecret,
} from "../../platform/config/config.ts";
import { loadPingUrl } from "../../platform/config/settings/ping-url.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** The variable that turns the announcing on. */
export const ALERT_WEBHOOK = "OPSCTL_ALERT_WEBHOOK";

const webhookAddress: Rule<string> = {
  ...httpBaseUrl,
  expected: "the whole address of the webhook",
  example: "http://127.0.0.1:9300/webhook",
};

/**
 * Where the end of a run is announced; null when it is announced nowhere.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadAlertWebhook(env: Environment): Promise<URL | null> {
  const values = await loadConfig({ [ALERT_WEBHOOK]: optional(webhookAddress) }, env);
  const url = values[ALERT_WEBHOOK];
  return url === undefined ? null : new URL(url);
}

/**
 * The secret that the webhook expects.
 *
 * Behaviour: looked for where every secret is; last in the webhook's own environment file, which belongs to the same
 *            account and is where many hosts have it alone.
 * Errors:    CONFIG_INVALID; those of the webhook's environment file.
 */
export async function findWebhookSecret(env: Environment): Promise<Secret> {
  const own = await loadConfig(
    {
      WEBHOOK_SECRET: optionalSecret(),
      OPSCTL_WEBHOOK_ENV_FILE: optional(absolutePath),
    },
    env,
  );
  if (own.WEBHOOK_SECRET !== undefined) return own.WEBHOOK_SECRET;
  const path = webhookEnvPath(own.OPSCTL_WEBHOOK_ENV_FILE, env);
  const file = readWebhookEnv(path, { reader: "the weekly run" });
  const values = { ...env, WEBHOOK_SECRET: file.get("WEBHOOK_SECRET") };
  return (await loadConfig({ WEBHOOK_SECRET: requiredSecret() }, values)).WEBHOOK_SECRET;
}

/**
 * What a dry run proves of the announcing and the ping; a real run goes on without what cannot be used.
 *
 * Errors: each promise on its own, CONFIG_INVALID and those of `findWebhookSecret`.
 */
export function provenSettings(env: Environment): Promise<unknown>[] {
  const isAnnounced = (env[ALERT_WEBHOOK] ?? "").trim() !== "";
  return [loadPingUrl(env), ...(isAnnounced ? [loadAlertWebhook(env), findWebhookSecret(env)] : [])];
}
