import { loadSettings } from "../platform/config/load.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { registerSecret } from "../platform/secrets/redact.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { ALERT_WEBHOOK } from "./announce/settings.ts";

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

const REQUIRED = ["DATABASE_URL", "APP_BASE_URL", "TRIGGER_SECRET"] as const;
const OPTIONAL = ["OPSCTL_LOG_DIR", "SOCIAL_EDITORIALS_ENABLED", "SOCIAL_EDITORIALS_MAX_LLM_CALLS"] as const;
const WHATSAPP = {
  required: ["GATEWAY_URL", "GATEWAY_ADMIN_KEY"],
  optional: ["WHATSAPP_REPORT_SENDER_TENANT_ID", "WHATSAPP_REPORT_MESSAGES_PER_MINUTE"],
} as const;
const EMAIL = {
  required: ["EMAIL_API_KEY"],
  optional: ["WEEKLY_REPORT_EMAIL_SENDER_TENANT_ID", "EMAIL_API_URL", "WEEKLY_REPORT_UNSUBSCRIBE"],
} as const;
const NOTHING = { required: [], optional: [] } as const;

/**
 * Reads all settings of a weekly run, before anything else happens.
 *
 * Behaviour: a channel that a flag leaves out needs none of its settings; a missing sender tenant or editorial alias is
 *            that step's failure, not a configuration error. `isProof` also reads what a run goes on without: the ping,
 *            and where and with which secret a failure is announced. `warn` gets a line about an alias in the
 *            environment.
 * Errors:    CONFIG_INVALID; SOCIAL_EDITORIALS_CRON_SECRET_REUSED when the alias and TRIGGER_SECRET are the same; those
 *            of `loadSettings`.
 * Source:    weekly report document, Worker configuration and Authentication.
 */
export async function loadWeeklyConfig(
  env: Environment,
  {
    skipWhatsapp,
    skipEmail,
    isProof = false,
  }: { skipWhatsapp: boolean; skipEmail: boolean; isProof?: boolean },
  warn: (message: string) => void = () => {},
): Promise<WeeklyConfig> {
  refuseAliasOfEnvironment(env, warn);
  const isAnnounced = isProof && (env[ALERT_WEBHOOK] ?? "").trim() !== "";
  const [whatsapp, email] = [skipWhatsapp ? NOTHING : WHATSAPP, skipEmail ? NOTHING : EMAIL];
  const values = await loadSettings(
    "weekly",
    {
      required: [
        ...[...REQUIRED, ...whatsapp.required, ...email.required],
        ...(isAnnounced ? (["WEBHOOK_SECRET"] as const) : []),
      ],
      optional: [
        ...[...OPTIONAL, ...whatsapp.optional, ...email.optional],
        ...(env.SOCIAL_EDITORIALS_ENABLED === "1" ? ([EDITORIAL_ALIAS] as const) : []),
        ...(isProof ? (["OPSCTL_PING_URL", ALERT_WEBHOOK] as const) : []),
      ],
    },
    env,
  );
  const alias = values[EDITORIAL_ALIAS] ?? null;
  if (alias !== null && (await isSame(alias, values.TRIGGER_SECRET))) throw aliasReused();
  return {
    databaseUrl: values.DATABASE_URL,
    appBaseUrl: values.APP_BASE_URL,
    triggerSecret: values.TRIGGER_SECRET,
    logDir: values.OPSCTL_LOG_DIR,
    whatsapp: skipWhatsapp
      ? null
      : {
          senderTenantId: values.WHATSAPP_REPORT_SENDER_TENANT_ID ?? null,
          gatewayUrl: values.GATEWAY_URL,
          adminKey: values.GATEWAY_ADMIN_KEY,
          messagesPerMinute: values.WHATSAPP_REPORT_MESSAGES_PER_MINUTE ?? null,
        },
    email: skipEmail
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
  const values = await loadSettings(
    "reports",
    { required: ["DATABASE_URL", "APP_BASE_URL"], optional: ["WEEKLY_REPORT_UNSUBSCRIBE"] },
    env,
  );
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
