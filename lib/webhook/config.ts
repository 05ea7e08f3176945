import { stateDirectoryOf } from "../platform/config/directories.ts";
import { url } from "../platform/config/kinds.ts";
import { checkOption, loadSettings, type Settings } from "../platform/config/load.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { webhookPorts } from "./ports.ts";

/** The settings of the alert webhook. */
export type WebhookConfig = {
  secret: Secret;
  /** Accepted beside `secret` while the platform is given the new one. */
  previousSecret: Secret | null;
  messaging: { apiUrl: string; apiKey: Secret; phone: string; instance: string | null };
  tracker: { url: string; token: Secret; teamId: string; comments: boolean };
  state: StateConfig;
  /** Where alerts go that WhatsApp does not take; null where it is not set. */
  secondChannel: SecondChannelConfig | null;
  /** The check elsewhere that notices when the service is silent; null where it is not set. */
  pingUrl: Secret | null;
  port: number;
  /** 0 turns it off. */
  adminPort: number;
};

/** Where the state is kept: a directory of this host, or a database that several hosts share. */
export type StateConfig = { directory: string } | { url: Secret };

/** The second channel: a key of its own, because the weekly run may use up the quota of the other. */
export type SecondChannelConfig = { apiUrl: string; apiKey: Secret; from: string; to: string };

const STATE = ["OPSCTL_STATE_DIR", "OPSCTL_STATE_URL"] as const;
const REQUIRED = [
  ...(["WEBHOOK_SECRET", "MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"] as const),
  ...(["ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"] as const),
] as const;
const OPTIONAL = [
  ...([
    "WEBHOOK_SECRET_PREVIOUS",
    "MESSAGING_INSTANCE",
    "ISSUE_TRACKER_URL",
    "ISSUE_TRACKER_COMMENTS",
  ] as const),
  ...(["ALERT_EMAIL_API_URL", "OPSCTL_PING_URL", "WEBHOOK_PORT", "WEBHOOK_ADMIN_PORT"] as const),
  ...STATE,
] as const;
const SECOND_CHANNEL = ["ALERT_EMAIL_TO", "ALERT_EMAIL_FROM", "ALERT_EMAIL_API_KEY"] as const;

/**
 * Reads the settings of `opsctl webhook serve`.
 *
 * Errors: CONFIG_INVALID with all problems at once; an empty WEBHOOK_SECRET counts as missing.
 */
export async function loadWebhookConfig(env: Environment): Promise<WebhookConfig> {
  const secondChannel = await secondChannelNames(env);
  const values = await loadSettings(
    "webhook",
    { required: [...REQUIRED, ...secondChannel], optional: OPTIONAL },
    env,
  );
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
    secondChannel:
      secondChannel.length > 0
        ? {
            apiUrl: values.ALERT_EMAIL_API_URL,
            apiKey: values.ALERT_EMAIL_API_KEY,
            from: values.ALERT_EMAIL_FROM,
            to: values.ALERT_EMAIL_TO,
          }
        : null,
    pingUrl: values.OPSCTL_PING_URL ?? null,
    port: values.WEBHOOK_PORT,
    adminPort: values.WEBHOOK_ADMIN_PORT,
  };
}

/** The settings that it needs: where any of the three is there, all of them; of a key that cannot be read, that alone. */
async function secondChannelNames(env: Environment): Promise<readonly (typeof SECOND_CHANNEL)[number][]> {
  const hasAddress = [env.ALERT_EMAIL_TO, env.ALERT_EMAIL_FROM].some((text) => (text ?? "").trim() !== "");
  if (hasAddress) return SECOND_CHANNEL;
  // It may be a secret's file, which `env` does not show; what is wrong with it is listed with the others.
  const key = loadSettings("webhook", { optional: ["ALERT_EMAIL_API_KEY"] }, env);
  return await key.then(
    ({ ALERT_EMAIL_API_KEY }) => (ALERT_EMAIL_API_KEY === undefined ? [] : SECOND_CHANNEL),
    () => ["ALERT_EMAIL_API_KEY" as const],
  );
}

/**
 * Reads the settings for a test alert to the URL `to`, else to the service of this host; it is sent the secret.
 *
 * Errors: CONFIG_INVALID, also for a URL to which the secret would go unencrypted.
 */
export async function loadTestConfig(
  env: Environment,
  to: string | undefined,
): Promise<Pick<WebhookConfig, "secret" | "state"> & { url: string }> {
  const { port } = await webhookPorts(env);
  const values = await loadSettings("webhook", { required: ["WEBHOOK_SECRET"], optional: STATE }, env);
  const address = checkOption("--url", url, to ?? `http://127.0.0.1:${port}/webhook`, env);
  return { url: address, secret: values.WEBHOOK_SECRET, state: stateOf(values, env) };
}

/**
 * Reads where the state is kept.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadStateConfig(env: Environment): Promise<StateConfig> {
  return stateOf(await loadSettings("webhook", { optional: STATE }, env), env);
}

function stateOf(
  values: Settings<never, "OPSCTL_STATE_DIR" | "OPSCTL_STATE_URL">,
  env: Environment,
): StateConfig {
  if (values.OPSCTL_STATE_URL !== undefined) return { url: values.OPSCTL_STATE_URL };
  return { directory: stateDirectoryOf(values.OPSCTL_STATE_DIR, env) };
}
