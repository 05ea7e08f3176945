import { stateDirectoryOf } from "../platform/config/directories.ts";
import { url } from "../platform/config/kinds.ts";
import { checkOption, loadSettings, type Settings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";

/** The settings of the alert webhook. */
export type WebhookConfig = Awaited<ReturnType<typeof loadWebhookConfig>>;

/** Where the state is kept: a directory of this host, or a database that several hosts share. */
export type StateConfig = { directory: string } | { url: Secret };

/** The fallback e-mail, with a key of its own: the weekly run may use up the quota of the other. */
export type FallbackConfig = NonNullable<WebhookConfig["fallback"]>;

/** The ports of the webhook on this host; `adminPort` is 0 where it is turned off. */
export type WebhookPorts = { port: number; adminPort: number };

const PORTS = ["WEBHOOK_PORT", "WEBHOOK_ADMIN_PORT"] as const;
const STATE = ["OPSCTL_STATE_DIR", "OPSCTL_STATE_URL"] as const;
const GATEWAY = ["MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"] as const;
const REQUIRED = ["WEBHOOK_SECRET", ...GATEWAY, "ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"] as const;
const TRACKER = ["ISSUE_TRACKER_URL", "ISSUE_TRACKER_COMMENTS"] as const;
const OPTIONAL = ["WEBHOOK_SECRET_PREVIOUS", "MESSAGING_INSTANCE", ...TRACKER, ...PORTS, ...STATE] as const;
const WATCH = ["ALERT_EMAIL_API_URL", "OPSCTL_PING_URL"] as const;
const FALLBACK = ["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY"] as const;

/**
 * Reads the settings of `opsctl webhook serve`.
 *
 * Shape:  `previousSecret` is accepted beside `secret` while the platform is given the new one. What is not configured is
 *         null; `adminPort` is 0 where it is turned off.
 * Errors: CONFIG_INVALID with all problems at once; an empty WEBHOOK_SECRET counts as missing.
 */
export async function loadWebhookConfig(env: Environment) {
  const fallback = await fallbackNames(env);
  const names = { required: [...REQUIRED, ...fallback], optional: [...OPTIONAL, ...WATCH] };
  const values = await loadSettings("webhook", names, env);
  return {
    secret: values.WEBHOOK_SECRET,
    previousSecret: values.WEBHOOK_SECRET_PREVIOUS ?? null,
    messaging: {
      apiUrl: values.MESSAGING_API_URL,
      apiKey: values.MESSAGING_API_KEY,
      phone: values.MESSAGING_PHONE,
      instance: values.MESSAGING_INSTANCE?.trim() ?? null,
    },
    tracker: {
      url: values.ISSUE_TRACKER_URL,
      token: values.ISSUE_TRACKER_TOKEN,
      teamId: values.ISSUE_TRACKER_TEAM_ID.trim(),
      comments: values.ISSUE_TRACKER_COMMENTS,
    },
    state: stateOf(values, env),
    fallback: fallback.length === 0 ? null : fallbackOf(values),
    pingUrl: values.OPSCTL_PING_URL ?? null,
    port: values.WEBHOOK_PORT,
    adminPort: values.WEBHOOK_ADMIN_PORT,
  };
}

function fallbackOf(values: Settings<(typeof FALLBACK)[number], "ALERT_EMAIL_API_URL">) {
  return {
    ...{ apiUrl: values.ALERT_EMAIL_API_URL, apiKey: values.ALERT_EMAIL_API_KEY },
    ...{ from: values.ALERT_EMAIL_FROM, to: values.ALERT_EMAIL_TO },
  };
}

/** The settings of the fallback channel: all are required if one is there, or cannot be read. */
async function fallbackNames(env: Environment): Promise<readonly (typeof FALLBACK)[number][]> {
  const found = await loadSettings("webhook", { optional: FALLBACK }, env).catch(() => null);
  return found === null || FALLBACK.some((name) => found[name] !== undefined) ? FALLBACK : [];
}

/**
 * The ports that the settings of the webhook name; the installed ones if one of the settings is no port. An option of
 * `webhook serve` wins over its setting, and cannot be seen here.
 */
export async function webhookPorts(env: Environment): Promise<WebhookPorts> {
  const load = (given: Environment) => loadSettings("webhook", { optional: PORTS }, given);
  const values = await load(env).catch(() => load({}));
  return { port: values.WEBHOOK_PORT, adminPort: values.WEBHOOK_ADMIN_PORT };
}

/**
 * Reads the settings for a test alert to the URL `to`, else to the service of this host; it is sent the secret.
 *
 * Errors: CONFIG_INVALID, also for a URL to which the secret would go unencrypted.
 */
export async function loadTestConfig(env: Environment, to: string | undefined) {
  const { port } = await webhookPorts(env);
  const values = await loadSettings("webhook", { required: ["WEBHOOK_SECRET"], optional: STATE }, env);
  const address = checkOption("--url", url, to ?? `http://127.0.0.1:${port}/webhook`, env);
  return { url: address, secret: values.WEBHOOK_SECRET, state: stateOf(values, env) };
}

/** Reads where the state is kept; errors: CONFIG_INVALID. */
export async function loadStateConfig(env: Environment): Promise<StateConfig> {
  return stateOf(await loadSettings("webhook", { optional: STATE }, env), env);
}

function stateOf(values: Settings<never, (typeof STATE)[number]>, env: Environment): StateConfig {
  if (values.OPSCTL_STATE_URL !== undefined) return { url: values.OPSCTL_STATE_URL };
  return { directory: stateDirectoryOf(values.OPSCTL_STATE_DIR, env) };
}
