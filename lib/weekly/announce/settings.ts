import { loadSettings } from "../../platform/config/load.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** The variable that turns the announcing on. */
export const ALERT_WEBHOOK = "OPSCTL_ALERT_WEBHOOK";

/**
 * Where the end of a run is announced; null when it is announced nowhere.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadAlertWebhook(env: Environment): Promise<URL | null> {
  const url = (await loadSettings("weekly", { optional: [ALERT_WEBHOOK] }, env))[ALERT_WEBHOOK];
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
  return (await loadSettings("weekly", { required: ["WEBHOOK_SECRET"] }, env)).WEBHOOK_SECRET;
}
