import { loadSettings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

/** The ports of the webhook on this host; `adminPort` is 0 where it is turned off. */
export type WebhookPorts = { port: number; adminPort: number };

/**
 * The ports that the settings of the webhook name; where one of them is no port, the installed ones.
 *
 * Behaviour: an option of `webhook serve` wins over its setting, and cannot be seen here.
 */
export async function webhookPorts(env: Environment): Promise<WebhookPorts> {
  const load = (given: Environment) =>
    loadSettings("webhook", { optional: ["WEBHOOK_PORT", "WEBHOOK_ADMIN_PORT"] }, given);
  const values = await load(env).catch(() => load({}));
  return { port: values.WEBHOOK_PORT, adminPort: values.WEBHOOK_ADMIN_PORT };
}
