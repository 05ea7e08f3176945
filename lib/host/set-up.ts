import { existsSync } from "node:fs";
import { join } from "node:path";
import { stateDirectoryOf } from "../platform/config/directories.ts";
import {
  PART_OF,
  PARTS,
  type PartName,
  readersOf,
  SETTINGS,
  type Setting,
  type SettingName,
  settingsWhere,
} from "../platform/config/settings-table.ts";
import { withWebhookSettings } from "../platform/config/webhook-settings.ts";
import { OpsError } from "../platform/errors.ts";
import { type Environment, secretsDirectory } from "../platform/secrets/adapter.ts";

export { PARTS, type PartName };

/** The file beside the state that only a webhook's service makes. */
const SERVICE_LOCK = "dispatcher.lock";

/**
 * Whether a part is meant to work on this host: one of the settings that enable it is there, or what it has kept.
 *
 * Shape:     `env` are the settings of its command.
 * Behaviour: the socket monitor sends with the settings of the webhook. A file of the webhook that cannot be read
 *            counts as set up: a person has to look at it. A webhook whose settings are gone still has its state, in
 *            which alerts may wait.
 */
export function isSetUp(part: PartName, env: Environment): boolean {
  if (hasAny(env, enabling(part)) || hasSecretFile(part, env)) return true;
  if (part === "webhook") return existsSync(join(stateDirectoryOf(stateDirIn(env), env), SERVICE_LOCK));
  return part === "socket-monitor" && isSenderSetUp(env);
}

/** Whether one of these variables has a value. */
export function hasAny(env: Environment, names: readonly string[]): boolean {
  return names.some((name) => (env[name] ?? "").trim() !== "");
}

/**
 * The settings that a part needs, and those that no other part reads; one that has a default, or a value in the sample
 * file, says nothing.
 */
function enabling(part: PartName): SettingName[] {
  return settingsWhere((setting) => {
    const readers = readersOf(setting);
    const own = readers.filter(({ command }) => PART_OF[command] === part);
    const isNeeded = own.some(({ isRequired }) => isRequired);
    const isOwn = own.length > 0 && own.length === readers.length;
    return isNeeded || (isOwn && setting.sample === undefined && setting.default === undefined);
  });
}

function stateDirIn({ OPSCTL_STATE_DIR }: Environment): string | undefined {
  return OPSCTL_STATE_DIR?.trim() || undefined;
}

/** A secret's file; one that another part may also have for itself says nothing. */
function hasSecretFile(part: PartName, env: Environment): boolean {
  return enabling(part).some((name) => {
    const setting: Setting = SETTINGS[name];
    const isShared = readersOf(setting).some(
      ({ command, isRequired }) => !isRequired && PART_OF[command] !== part,
    );
    return setting.secret !== undefined && !isShared && existsSync(join(secretsDirectory(env), name));
  });
}

function isSenderSetUp(env: Environment): boolean {
  try {
    return hasAny(withWebhookSettings("socket-monitor", env), enabling("socket-monitor"));
  } catch (error) {
    if (error instanceof OpsError) return true;
    throw error;
  }
}
