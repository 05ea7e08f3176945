import { isAbsolute, join } from "node:path";
import { OpsError } from "../errors.ts";
import { readClosedText } from "../files/closed-file.ts";
import type { Environment } from "../secrets/adapter.ts";
import { type EnvFile, readEnvFile } from "./env-file.ts";
import {
  commandFile,
  DEFAULT_ENV_DIR,
  isReadBy,
  type SettingsCommand,
  settingsWhere,
} from "./settings-table.ts";

/** The settings of a command. */
export type CommandSettings = ReturnType<typeof readCommandSettings>;

/** Of more faulty lines the rest has nothing new to say. */
const MOST_FAULTS = 20;

/**
 * Reads the environment file of a command, and lays it under the environment.
 *
 * Shape:     `env` has those of the environment, then those of the file at `path`, which is null for a command without one;
 *            `isThere` says whether that file exists, `names` are those of the variables that it sets, `repeated` those
 *            with two values; `hidden` names what both have with different values: the environment's counts.
 * Behaviour: an empty setting counts as absent, so the file's value counts. The file holds keys: it is read like a
 *            secret's file, and parsed, never run.
 * Errors:    CONFIG_INVALID for a directory that is not absolute, ENV_FILE_INVALID, and those of `readClosedText`.
 */
export function readCommandSettings(words: string, env: Environment) {
  const file = commandFile(words);
  const path = file === null ? null : settingsPath(file, env);
  const read = path === null ? null : readFile(path, words);
  if (read?.broken) throw read.broken;
  const variables = presentIn(Object.fromEntries(read?.variables ?? []));
  const given = presentIn(env);
  const names = Object.keys(variables);
  const hidden = names.filter((name) => given[name] !== undefined && given[name] !== variables[name]);
  const repeated = read?.repeated ?? [];
  const all: Environment = path === null ? env : { ...variables, ...given };
  refuseRelative("OPSCTL_SECRETS_DIR", all);
  return { env: all, path, isThere: read !== null, names, repeated, hidden };
}

/**
 * The path of an environment file in the directory that `OPSCTL_ENV_DIR` names; null when it is set and empty.
 *
 * Errors: CONFIG_INVALID when it is not an absolute path.
 */
export function settingsPath(name: string, env: Environment): string | null {
  refuseRelative("OPSCTL_ENV_DIR", env);
  const directory = env.OPSCTL_ENV_DIR?.trim() ?? DEFAULT_ENV_DIR;
  return directory === "" ? null : join(directory, name);
}

/** In the directory where a command happens to be started, nothing is read or written. */
function refuseRelative(name: string, env: Environment): void {
  const path = env[name]?.trim() ?? "";
  if (path === "" || isAbsolute(path)) return;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: `Cannot start: ${name} is not an absolute path`,
    hint: "Give an absolute path, or leave it out for the installed directory",
  });
}

/** Where another command finds the webhook's environment file; null where none is read. Errors: CONFIG_INVALID. */
export function webhookSettingsPath(env: Environment): string | null {
  refuseRelative("OPSCTL_WEBHOOK_ENV_FILE", env);
  return env.OPSCTL_WEBHOOK_ENV_FILE?.trim() || settingsPath("webhook.env", env);
}

/**
 * The environment of a command, and under it the settings that it shares with the webhook, from the webhook's file.
 *
 * Shape:     `broken` is the error about lines of that file that cannot be read, for a caller that misses a setting;
 *            null where there are none.
 * Errors:    CONFIG_INVALID for a path that is not absolute, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED,
 *            SECRET_FILE_UNREADABLE.
 */
export function withWebhookSettings(
  command: SettingsCommand,
  env: Environment,
): { env: Environment; broken: OpsError | null } {
  const path = webhookSettingsPath(env);
  const read = path === null ? null : readFile(path, command);
  if (read === null) return { env, broken: null };
  const shared = settingsWhere((setting) => setting.isShared === true && isReadBy(setting, command));
  // Whether its messages may go unencrypted is said where their address is.
  const names = command === "socket-monitor" ? [...shared, "OPSCTL_ALLOW_PLAIN_HTTP"] : shared;
  const found = Object.fromEntries(names.map((name) => [name, read.variables.get(name)]));
  return { env: { ...env, ...found, ...presentIn(env) }, broken: read.broken };
}

/** The variables of an environment file, and what is wrong with its lines; null where it is missing. */
function readFile(path: string, words: string): (EnvFile & { broken: OpsError | null }) | null {
  const subject = `the settings of opsctl ${words}`;
  const text = readClosedText(path, subject);
  if (text === undefined) return null;
  const file = readEnvFile(text);
  const lines = file.faults.slice(0, MOST_FAULTS).map(({ line, problem }) => `  line ${line} ${problem}`);
  const broken = new OpsError({
    code: "ENV_FILE_INVALID",
    message: [`Cannot read ${subject}: file ${path}`, ...lines].join("\n"),
    hint: "The file is never read by a shell: NAME=value or NAME='value', one a line",
  });
  return { ...file, broken: lines.length === 0 ? null : broken };
}

function presentIn(variables: Environment): Environment {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => (value ?? "").trim() !== ""));
}
