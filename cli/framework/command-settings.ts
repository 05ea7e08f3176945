import { basename } from "node:path";
import process from "node:process";
import { PROXY_VARIABLES, START_VARIABLES } from "../../lib/platform/config/runtime-variables.ts";
import {
  type CommandSettings,
  readCommandSettings,
  webhookSettingsPath,
} from "../../lib/platform/config/settings-file.ts";
import { commandFile } from "../../lib/platform/config/settings-table.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { onOverruledVariable } from "../../lib/platform/secrets/adapter.ts";

/**
 * Reads the settings of a command, also again: the environment of the process when it began, and under it the command's
 * file; for a command without one the environment as it is.
 */
export function settingsReader(name: string): () => CommandSettings {
  const given = commandFile(name) === null ? process.env : { ...process.env };
  return () => readCommandSettings(name, given);
}

/** Gives this process what its runtime needs of the settings, and warns of those that have no effect. */
export function applySettings(settings: CommandSettings, log: Log): void {
  const { env, path, names } = settings;
  onOverruledVariable((name, source) => {
    const isGiven = (process.env[name] ?? "").trim() !== "";
    const file = names.includes(name) ? path : webhookSettingsPath(env);
    const from = isGiven || file === null ? "environment" : file;
    const fields = { variable: name, from, used: source };
    log.warn("A variable is not used: its secret comes from elsewhere", fields);
  });
  warnOfHidden(settings, log);
  if (path === null) return;
  for (const name of PROXY_VARIABLES) if (env[name]?.trim()) process.env[name] = env[name];
  const late = START_VARIABLES.filter((name) => (env[name] ?? "") !== "" && env[name] !== process.env[name]);
  const hint = "Give them to the process: Environment= in the unit (systemctl edit), or the terminal";
  if (late.length > 0)
    log.warn("The runtime reads these before it reads the settings file", {
      file: path,
      variables: late,
      hint,
    });
}

/** Warns of variables of the settings file that have another value in the environment. */
export function warnOfHidden({ path, hidden }: CommandSettings, log: Log): void {
  if (hidden.length > 0)
    log.warn("The environment overrules the settings file", { file: path, variables: hidden });
}

/** Warns of names in a settings file that have no effect. */
export async function warnOfUnknown({ path, names }: CommandSettings, log: Log): Promise<void> {
  if (path === null) return;
  const { unknownSettings } = await import("../../lib/platform/config/unknown-names.ts");
  for (const unknown of unknownSettings(basename(path), names))
    log.warn(`The settings file sets ${unknown}`, { file: path });
}
