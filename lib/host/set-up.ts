import { existsSync } from "node:fs";
import { join } from "node:path";
import { stateDirectoryOf } from "../platform/config/directories.ts";
import { withWebhookSettings } from "../platform/config/settings-file.ts";
import {
  COMMANDS,
  isSecret,
  type PartName,
  readersOf,
  SETTINGS,
  type Setting,
  settingsWhere,
} from "../platform/config/settings-table.ts";
import { OpsError } from "../platform/errors.ts";
import { isThere } from "../platform/files/closed-file.ts";
import { type Environment, secretsDirectory } from "../platform/secrets/adapter.ts";

/** The file beside the state that only a webhook's service makes. */
const SERVICE_LOCK = "dispatcher.lock";

/**
 * Whether a part is meant to work on this host: a setting that it needs is there, or what it has kept.
 *
 * Shape:     `env` are the settings of its command.
 * Errors:    SECRET_FILE_UNREADABLE where this account may not look.
 * Behaviour: the socket monitor sends with the settings of the webhook. A file of the webhook that cannot be read counts:
 *            a person has to look at it. A webhook whose settings are gone still has its state, in which alerts may wait.
 */
export function isSetUp(part: PartName, env: Environment): boolean {
  const needed = settingsWhere((setting) =>
    readersOf(setting).some(({ command, isRequired }) => isRequired && COMMANDS[command].part === part),
  );
  const secrets = needed.filter((name) => isOwnSecret(SETTINGS[name], part));
  if (hasAny(env, needed) || secrets.some((name) => isThere(join(secretsDirectory(env), name)))) return true;
  if (part === "webhook") {
    const stateDir = stateDirectoryOf(env.OPSCTL_STATE_DIR?.trim() || undefined, env);
    return existsSync(join(stateDir, SERVICE_LOCK));
  }
  if (part !== "socket-monitor") return false;
  try {
    return hasAny(withWebhookSettings(part, env).env, needed);
  } catch (error) {
    if (error instanceof OpsError) return true;
    throw error;
  }
}

function hasAny(env: Environment, names: readonly string[]): boolean {
  return names.some((name) => (env[name] ?? "").trim() !== "");
}

/** Whether a secret's file means this part: one that another part may also have says nothing. */
function isOwnSecret(setting: Setting, part: PartName): boolean {
  const isNeeded = readersOf(setting).every(
    ({ command, isRequired }) => isRequired || COMMANDS[command].part === part,
  );
  return isSecret(setting) && isNeeded;
}
