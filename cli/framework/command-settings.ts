import { basename } from "node:path";
import process from "node:process";
import { applyProxies, comeTooLate } from "../../lib/platform/config/runtime-variables.ts";
import { type CommandSettings, readCommandSettings } from "../../lib/platform/config/settings-file.ts";
import { commandFile } from "../../lib/platform/config/settings-table.ts";
import { webhookSettingsPath } from "../../lib/platform/config/webhook-settings.ts";
import { keepLoopbackOffProxies } from "../../lib/platform/http/proxy.ts";
import type { Log } from "../../lib/platform/log/log.ts";
import { onOverruledVariable } from "../../lib/platform/secrets/overruled.ts";
import { shellWord } from "../../lib/platform/shell-word.ts";

/** The settings of a command, and how they are read again; a problem is kept until there is a log. */
export type Settings = { read: CommandSettings; again: () => CommandSettings; problem: unknown };

const NONE: CommandSettings = {
  env: process.env,
  path: null,
  isThere: false,
  names: [],
  repeated: [],
  hidden: [],
};

/** The settings of a command without a file: the environment alone. */
export const NO_SETTINGS: Settings = { read: NONE, again: () => NONE, problem: null };

/** Reads the settings of a command: this process's environment, and under it the command's file where it has one. */
export function settingsOf(name: string): Settings {
  if (commandFile(name) === null) return NO_SETTINGS;
  const given = { ...process.env };
  const typed = process.argv.slice(2).map(shellWord).join(" ");
  const again = () => readCommandSettings(name, given, typed);
  try {
    return { read: again(), again, problem: null };
  } catch (problem) {
    return { read: NONE, again, problem };
  }
}

/** Gives this process what its runtime needs of the settings, and warns of those that have no effect. */
export function applySettings(settings: CommandSettings, log: Log): void {
  warnOfOverruled(settings, log);
  const { env, path, hidden } = settings;
  if (path !== null) {
    const late = comeTooLate(env, process.env);
    applyProxies(env, process.env);
    if (hidden.length > 0)
      log.warn("The environment overrules the settings file", { file: path, variables: hidden });
    const hint = "Give them to the process: Environment= in the unit (systemctl edit), or the terminal";
    if (late.length > 0)
      log.warn("The runtime reads these before it reads the settings file", {
        file: path,
        variables: late,
        hint,
      });
  }
  keepLoopbackOffProxies(process.env);
}

/** Warns of each variable that is not used because a secret's own file or command has another value. */
function warnOfOverruled({ path, names, env }: CommandSettings, log: Log): void {
  onOverruledVariable(({ name, source }) => {
    const isGiven = (process.env[name] ?? "").trim() !== "";
    const file = names.includes(name) ? path : webhookSettingsPath(env);
    const from = isGiven || file === null ? "environment" : file;
    log.warn("A variable is not used: its secret comes from elsewhere", {
      variable: name,
      from,
      used: source,
    });
  });
}

/** Warns of names in a settings file that have no effect, for a command that is run to see whether all is well. */
export async function warnOfUnknownSettings(
  { path, names }: Pick<CommandSettings, "path" | "names">,
  log: Log,
): Promise<void> {
  if (path === null) return;
  const { unknownSettings, unknownText } = await import("../../lib/platform/config/unknown-names.ts");
  for (const unknown of unknownSettings(basename(path), names))
    log.warn(`The settings file sets ${unknownText(unknown)}`, { file: path });
}
