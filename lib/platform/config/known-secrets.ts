import type { Kind } from "./kinds.ts";
import { kindOf } from "./load.ts";
import {
  ALL_SETTINGS,
  readersOf,
  SETTINGS_FILES,
  type Setting,
  type SettingsCommand,
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
  afterwards?: string | undefined;
};

/** Every secret that opsctl reads, in the order in which an installation needs them. */
export const KNOWN_SECRETS: readonly KnownSecret[] = ALL_SETTINGS.flatMap(([name, setting]) => {
  const { secret: reader, fromEnvironment = true, afterwards } = setting;
  if (reader === undefined) return [];
  return [{ name, kind: kindOf(setting), reader, fromEnvironment, usedBy: usesOf(setting), afterwards }];
});

function usesOf(setting: Setting): SecretUse[] {
  const { neededWith = {}, sharedFrom } = setting;
  return readersOf(setting).map(({ command, isRequired }) => {
    const variable = neededWith[command];
    const need = variable !== undefined ? { variable } : isRequired ? "required" : "optional";
    const isElsewhere = sharedFrom !== undefined && SETTINGS_FILES[command] !== sharedFrom;
    return { command, need, ...(isElsewhere ? { alsoIn: sharedFrom } : {}) };
  });
}

/** The secret of this name; null when opsctl has none. */
export function knownSecret(name: string): KnownSecret | null {
  return KNOWN_SECRETS.find((secret) => secret.name === name) ?? null;
}

/** Whether the settings of a command ask for something that this need depends on. */
export function isNeeded(need: Need, env: Readonly<Record<string, string | undefined>>): boolean {
  if (typeof need === "string") return need === "required";
  const value = (env[need.variable] ?? "").trim();
  const isSwitch = ALL_SETTINGS.some(([name, { kind }]) => name === need.variable && kind === "switch");
  return isSwitch ? value === "1" : value !== "";
}
