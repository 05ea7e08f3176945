import { readClosedText } from "../files/closed-file.ts";
import type { Environment } from "../secrets/adapter.ts";
import { parseEnvFile } from "./env-file.ts";
import { settingsPath } from "./settings-file.ts";
import { isReadBy, type SettingsCommand, settingsWhere } from "./settings-table.ts";

/** Where another command finds the webhook's environment file; null where none is read. */
export function webhookSettingsPath(env: Environment): string | null {
  return env.OPSCTL_WEBHOOK_ENV_FILE?.trim() || settingsPath("webhook.env", env);
}

/**
 * The environment of a command, and under it what the webhook's environment file says of the settings that both share.
 *
 * Behaviour: the file is `OPSCTL_WEBHOOK_ENV_FILE`, else the one beside the other environment files; none where it is
 *            missing. It holds keys, so it is read like a secret's file. It is parsed, not run.
 * Errors:    CONFIG_INVALID for a path that is not absolute, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED,
 *            SECRET_FILE_UNREADABLE.
 */
export function withWebhookSettings(command: SettingsCommand, env: Environment): Environment {
  const path = webhookSettingsPath(env);
  if (path === null) return env;
  const text = readClosedText(path, { subject: "the webhook's settings" });
  const file = parseEnvFile(text ?? "");
  const shared = settingsWhere((setting) => setting.sharedFrom !== undefined && isReadBy(setting, command));
  // Whether its messages may go unencrypted is said where their address is.
  const names = command === "socket-monitor" ? [...shared, "OPSCTL_ALLOW_PLAIN_HTTP"] : shared;
  const given = Object.entries(env).filter(([, value]) => (value ?? "").trim() !== "");
  return {
    ...env,
    ...Object.fromEntries(names.map((name) => [name, file.get(name)])),
    ...Object.fromEntries(given),
  };
}
