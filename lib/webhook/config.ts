import {
  anyText,
  exactlyOne,
  httpBaseUrl,
  loadConfig,
  optional,
  optionalSecret,
  postgresUrl,
  required,
  requiredSecret,
} from "../platform/config/config.ts";
import { loadTogether } from "../platform/config/load-together.ts";
import { alertPhone } from "../platform/config/settings/alert-phone.ts";
import { PING_SETTINGS } from "../platform/config/settings/ping-url.ts";
import {
  STATE_DIRECTORY_SETTINGS,
  type StateDirectorySettings,
  stateDirectoryOf,
} from "../platform/config/settings/state-directory.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { loadSecondChannel, type SecondChannelConfig } from "./second-channel/config.ts";

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
};

/** Where the state is kept: a directory of this host, or a database that several hosts share. */
export type StateConfig = { directory: string } | { url: Secret };

const STATE = {
  ...STATE_DIRECTORY_SETTINGS,
  OPSCTL_STATE_URL: optionalSecret({ rule: postgresUrl }),
};

const TRACKER_ENDPOINT = {
  expected: "the tracker's whole endpoint",
  example: "https://api.linear.app/graphql",
};

const WEBHOOK = {
  WEBHOOK_SECRET: requiredSecret(),
  WEBHOOK_SECRET_PREVIOUS: optionalSecret(),
  MESSAGING_API_URL: required({ ...httpBaseUrl, example: "https://gateway.example.com" }),
  MESSAGING_API_KEY: requiredSecret(),
  MESSAGING_PHONE: required(alertPhone),
  MESSAGING_INSTANCE: optional(anyText),
  ISSUE_TRACKER_URL: optional({ ...httpBaseUrl, ...TRACKER_ENDPOINT }, TRACKER_ENDPOINT.example),
  ISSUE_TRACKER_TOKEN: requiredSecret(),
  ISSUE_TRACKER_TEAM_ID: required({ ...anyText, expected: "the UUID of the team that receives the issues" }),
  ISSUE_TRACKER_COMMENTS: optional(exactlyOne, false),
  ...STATE,
  ...PING_SETTINGS,
};

/**
 * Reads the settings of `opsctl webhook serve`.
 *
 * Errors: CONFIG_INVALID with all problems at once; an empty WEBHOOK_SECRET counts as missing.
 */
export async function loadWebhookConfig(env: Environment): Promise<WebhookConfig> {
  const secondChannel = loadSecondChannel(env);
  const values = await loadTogether(loadConfig(WEBHOOK, env), [secondChannel], env);
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
    state: stateOf(values),
    secondChannel: await secondChannel,
    pingUrl: values.OPSCTL_PING_URL ?? null,
  };
}

/**
 * Reads the settings for a test alert to `url`, which is sent the secret.
 *
 * Errors: CONFIG_INVALID, also for a URL to which the secret would go unencrypted.
 */
export async function loadTestConfig(
  env: Environment,
  url: string,
): Promise<Pick<WebhookConfig, "secret" | "state">> {
  const variables = { "--url": required(httpBaseUrl), WEBHOOK_SECRET: requiredSecret(), ...STATE };
  const values = await loadConfig(variables, { ...env, "--url": url });
  return { secret: values.WEBHOOK_SECRET, state: stateOf(values) };
}

/**
 * Reads where the state is kept.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadStateConfig(env: Environment): Promise<StateConfig> {
  return stateOf(await loadConfig(STATE, env));
}

function stateOf(values: StateDirectorySettings & { OPSCTL_STATE_URL: Secret | undefined }): StateConfig {
  if (values.OPSCTL_STATE_URL !== undefined) return { url: values.OPSCTL_STATE_URL };
  return { directory: stateDirectoryOf(values) };
}
