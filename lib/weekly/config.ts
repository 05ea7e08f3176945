import {
  absolutePath,
  exactlyOne,
  httpBaseUrl,
  loadConfig,
  optional,
  optionalSecret,
  positiveInteger,
  positiveMultipleOfThree,
  postgresUrl,
  required,
  requiredSecret,
  uuid,
} from "../platform/config/config.ts";
import { DEFAULT_LOG_DIR } from "../platform/config/settings/log-directory.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { registerSecret } from "../platform/secrets/redact.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { unsubscribeAddress } from "./unsubscribe-address.ts";

/** The settings of a weekly run; a channel that is left out, and editorials that are not enabled, are null. */
export type WeeklyConfig = {
  databaseUrl: Secret;
  appBaseUrl: string;
  triggerSecret: Secret;
  logDir: string;
  whatsapp: {
    senderTenantId: string | null;
    gatewayUrl: string;
    adminKey: Secret;
    messagesPerMinute: number | null;
  } | null;
  email: { senderTenantId: string | null; apiUrl: string; apiKey: Secret } | null;
  /** Where a recipient stops the e-mails; null also where the channel is left out. */
  unsubscribe: string | null;
  editorials: { maxLlmCalls: number; secret: Secret | null } | null;
};

/** The secret that the editorial route has for itself, found by the secret adapter alone. */
export const EDITORIAL_ALIAS = "SOCIAL_EDITORIALS_CRON_SECRET";

const ALWAYS = {
  DATABASE_URL: requiredSecret(postgresUrl),
  APP_BASE_URL: required(httpBaseUrl),
  TRIGGER_SECRET: requiredSecret(),
  OPSCTL_LOG_DIR: optional(absolutePath, DEFAULT_LOG_DIR),
  SOCIAL_EDITORIALS_ENABLED: optional(exactlyOne, false),
  SOCIAL_EDITORIALS_MAX_LLM_CALLS: optional(positiveMultipleOfThree, 30),
};

const UNSUBSCRIBE = { WEEKLY_REPORT_UNSUBSCRIBE: optional(unsubscribeAddress) };

const WHATSAPP = {
  WHATSAPP_REPORT_SENDER_TENANT_ID: optional(uuid),
  WHATSAPP_REPORT_MESSAGES_PER_MINUTE: optional(positiveInteger),
  GATEWAY_URL: required({ ...httpBaseUrl, example: "https://gateway.example.com" }),
  GATEWAY_ADMIN_KEY: requiredSecret(),
};

const EMAIL = {
  WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID: optional(uuid),
  EMAIL_API_URL: optional(httpBaseUrl, "https://api.resend.com"),
  EMAIL_API_KEY: requiredSecret(),
  ...UNSUBSCRIBE,
};

const EDITORIALS = { [EDITORIAL_ALIAS]: optionalSecret({ fromEnvironment: false }) };

/**
 * Reads all settings of a weekly run, before anything else happens.
 *
 * Behaviour: a channel that a flag leaves out needs none of its settings; a missing sender tenant or editorial alias is
 *            that step's failure, not a configuration error. `warn` gets a line about an alias in the environment.
 * Errors:    CONFIG_INVALID; SOCIAL_EDITORIALS_CRON_SECRET_REUSED when the alias and TRIGGER_SECRET are the same.
 * Source:    weekly report document, Worker configuration and Authentication.
 */
export async function loadWeeklyConfig(
  env: Environment,
  flags: { skipWhatsapp: boolean; skipEmail: boolean },
  warn: (message: string) => void = () => {},
): Promise<WeeklyConfig> {
  refuseAliasOfEnvironment(env, warn);
  const values = await loadConfig(
    {
      ...ALWAYS,
      ...(flags.skipWhatsapp ? {} : WHATSAPP),
      ...(flags.skipEmail ? {} : EMAIL),
      ...(env.SOCIAL_EDITORIALS_ENABLED === "1" ? EDITORIALS : {}),
    } as typeof ALWAYS & typeof WHATSAPP & typeof EMAIL & typeof EDITORIALS,
    env,
  );
  const alias = values[EDITORIAL_ALIAS] ?? null;
  if (alias !== null && (await isSame(alias, values.TRIGGER_SECRET))) throw aliasReused();
  return {
    databaseUrl: values.DATABASE_URL,
    appBaseUrl: values.APP_BASE_URL,
    triggerSecret: values.TRIGGER_SECRET,
    logDir: values.OPSCTL_LOG_DIR,
    whatsapp: flags.skipWhatsapp
      ? null
      : {
          senderTenantId: values.WHATSAPP_REPORT_SENDER_TENANT_ID ?? null,
          gatewayUrl: values.GATEWAY_URL,
          adminKey: values.GATEWAY_ADMIN_KEY,
          messagesPerMinute: values.WHATSAPP_REPORT_MESSAGES_PER_MINUTE ?? null,
        },
    email: flags.skipEmail
      ? null
      : {
          senderTenantId: values.WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID ?? null,
          apiUrl: values.EMAIL_API_URL,
          apiKey: values.EMAIL_API_KEY,
        },
    unsubscribe: values.WEEKLY_REPORT_UNSUBSCRIBE ?? null,
    editorials: values.SOCIAL_EDITORIALS_ENABLED
      ? { maxLlmCalls: values.SOCIAL_EDITORIALS_MAX_LLM_CALLS, secret: alias }
      : null,
  };
}

/**
 * What a preview of the messages needs: the database, and what enters them besides the report.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadPreviewConfig(
  env: Environment,
): Promise<Pick<WeeklyConfig, "databaseUrl" | "appBaseUrl" | "unsubscribe">> {
  const { DATABASE_URL, APP_BASE_URL } = ALWAYS;
  const values = await loadConfig({ DATABASE_URL, APP_BASE_URL, ...UNSUBSCRIBE }, env);
  return {
    databaseUrl: values.DATABASE_URL,
    appBaseUrl: values.APP_BASE_URL,
    unsubscribe: values.WEEKLY_REPORT_UNSUBSCRIBE ?? null,
  };
}

/** The alias comes from the secret adapter alone; one in the environment is not used, and still never printed. */
function refuseAliasOfEnvironment(env: Environment, warn: (message: string) => void): void {
  const value = env[EDITORIAL_ALIAS];
  if (value === undefined || value.trim() === "") return;
  registerSecret(value);
  warn(
    `${EDITORIAL_ALIAS} is set in the environment or in weekly.env and is not used: it is resolved by the secret adapter alone`,
  );
}

async function isSame(one: Secret, other: Secret): Promise<boolean> {
  const { createHash, timingSafeEqual } = await import("node:crypto");
  // timingSafeEqual compares equal lengths only.
  const digest = (secret: Secret) => createHash("sha256").update(secret.open()).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function aliasReused(): OpsError {
  return new OpsError({
    code: "SOCIAL_EDITORIALS_CRON_SECRET_REUSED",
    message: `Cannot start: ${EDITORIAL_ALIAS} has the same value as TRIGGER_SECRET`,
    hint: `Give the editorial route a secret of its own, equal to CRON_SECRET in the editorial worker`,
  });
}
