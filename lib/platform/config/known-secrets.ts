import type { Environment } from "../secrets/adapter.ts";
import { ROOT_SECRETS } from "../secrets/root-secrets.ts";
import { KINDS, type Kind } from "./kinds.ts";
import {
  ALL_SETTINGS,
  fileOf,
  isSecret,
  readersOf,
  SETTINGS_FILES,
  type Setting,
  type SettingsCommand,
  settingOf,
} from "./settings-table.ts";

/** When a command needs a secret: always, never, or when its settings have this variable (a switch: with `1`). */
export type Need = "required" | "optional" | { variable: string };

/** A command that reads a secret; `alsoIn` is another command's environment file in which it looks for the secret. */
export type SecretUse = { command: SettingsCommand; need: Need; alsoIn?: string };

/** A secret, as the table of settings has it; see `Setting`. */
export type KnownSecret = {
  name: string;
  kind: Kind<unknown>;
  reader: "opsctl" | "root";
  fromEnvironment: boolean;
  usedBy: readonly SecretUse[];
  afterwards: string | undefined;
};

/** Every secret that opsctl reads, in the order in which an installation needs them. */
export const KNOWN_SECRETS: readonly KnownSecret[] = ALL_SETTINGS.filter(([, setting]) =>
  isSecret(setting),
).map(([name, setting]) => ({
  name,
  kind: KINDS[setting.kind],
  reader: ROOT_SECRETS.includes(name) ? "root" : "opsctl",
  fromEnvironment: setting.fromEnvironment !== false,
  usedBy: usesOf(setting),
  afterwards: setting.afterwards,
}));

function usesOf(setting: Setting): SecretUse[] {
  return readersOf(setting).map(({ command, isRequired, neededWith }) => {
    const need = neededWith !== null ? { variable: neededWith } : isRequired ? "required" : "optional";
    const file = fileOf(setting, command);
    return { command, need, ...(file === SETTINGS_FILES[command] ? {} : { alsoIn: file }) };
  });
}

/** The secret of this name; null when opsctl has none. */
export function knownSecret(name: string): KnownSecret | null {
  return KNOWN_SECRETS.find((secret) => secret.name === name) ?? null;
}

/** Whether the settings of a command ask for something that this need depends on. */
export function isNeeded(need: Need, env: Environment): boolean {
  if (typeof need === "string") return need === "required";
  const value = (env[need.variable] ?? "").trim();
  return settingOf(need.variable)?.kind === "switch" ? value === "1" : value !== "";
}
