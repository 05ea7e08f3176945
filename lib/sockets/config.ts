import { DEFAULT_TEXTFILE_DIR } from "../host/metrics-file-name.ts";
import { readWebhookEnv, webhookEnvPath } from "../host/webhook-env.ts";
import {
  absolutePath,
  anyText,
  headerText,
  httpBaseUrl,
  loadConfig,
  optional,
  required,
  requiredSecret,
} from "../platform/config/config.ts";
import { alertPhone } from "../platform/config/settings/alert-phone.ts";
import { DEFAULT_LOG_DIR } from "../platform/config/settings/log-directory.ts";
import { STATE_DIRECTORY_SETTINGS, stateDirectoryOf } from "../platform/config/settings/state-directory.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { registerSecret } from "../platform/secrets/redact.ts";
import { Secret } from "../platform/secrets/secret.ts";

/** The settings of the socket monitor. */
export type SocketMonitorConfig = {
  messaging: { apiUrl: string; apiKey: Secret; phone: string; instance: string | null };
  stateDir: string;
  logDir: string;
  textfileDir: string;
};

const OWN = {
  OPSCTL_WEBHOOK_ENV_FILE: optional(absolutePath),
  ...STATE_DIRECTORY_SETTINGS,
  OPSCTL_LOG_DIR: optional(absolutePath, DEFAULT_LOG_DIR),
  TEXTFILE_DIR: optional({ ...absolutePath, example: DEFAULT_TEXTFILE_DIR }, DEFAULT_TEXTFILE_DIR),
};

/** What is read from the webhook's file; the rest of it is the webhook's own. */
const SHARED = [
  "MESSAGING_API_URL",
  "MESSAGING_API_KEY",
  "MESSAGING_PHONE",
  "MESSAGING_INSTANCE",
  "OPSCTL_ALLOW_PLAIN_HTTP",
];

/**
 * Reads the settings of `opsctl socket-monitor`: its own from the environment, those of the messages from the
 * webhook's file; what is absent there, from the environment, and the key from the secret adapter.
 *
 * Errors: CONFIG_INVALID with all problems at once, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export async function loadSocketMonitorConfig(env: Environment): Promise<SocketMonitorConfig> {
  const own = await loadConfig(OWN, env);
  const path = webhookEnvPath(own.OPSCTL_WEBHOOK_ENV_FILE, env);
  const file = readWebhookEnv(path, { reader: "the socket monitor" });
  const shared = SHARED.flatMap((name) => {
    const value = file.get(name) ?? "";
    return value.trim() === "" ? [] : [[name, value] as const];
  });
  const messaging = await loadMessaging(Object.fromEntries(shared), env).catch((error: unknown) => {
    throw withFileNamed(error, path);
  });
  return {
    messaging,
    stateDir: stateDirectoryOf(own),
    logDir: own.OPSCTL_LOG_DIR,
    textfileDir: own.TEXTFILE_DIR,
  };
}

async function loadMessaging(
  file: Readonly<Record<string, string>>,
  env: Environment,
): Promise<SocketMonitorConfig["messaging"]> {
  const isKeyInFile = file.MESSAGING_API_KEY !== undefined;
  if (isKeyInFile) registerSecret(file.MESSAGING_API_KEY as string);
  const values = await loadConfig(
    {
      MESSAGING_API_URL: required({ ...httpBaseUrl, example: "https://gateway.example.com" }),
      MESSAGING_API_KEY: isKeyInFile ? required(headerText) : requiredSecret(),
      MESSAGING_PHONE: required(alertPhone),
      MESSAGING_INSTANCE: optional(anyText),
    },
    { ...env, ...file },
  );
  const key = values.MESSAGING_API_KEY;
  return {
    apiUrl: values.MESSAGING_API_URL,
    apiKey: typeof key === "string" ? new Secret(key) : key,
    phone: values.MESSAGING_PHONE,
    instance: values.MESSAGING_INSTANCE?.trim() ?? null,
  };
}

function withFileNamed(error: unknown, path: string | null): unknown {
  if (!(error instanceof OpsError) || error.code !== "CONFIG_INVALID" || path === null) return error;
  const { code, message } = error;
  const settings = error.settings?.map((setting) => ({ ...setting, file: path }));
  return new OpsError({
    code,
    message,
    hint: `Set them in ${path}, the webhook's environment file`,
    settings,
  });
}
