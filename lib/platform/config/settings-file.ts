import { basename, isAbsolute, join } from "node:path";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { isClosedHere, readClosedText } from "../files/closed-file.ts";
import { accountOf, SERVICE_ACCOUNT, wasRoot } from "../privileges.ts";
import type { Environment } from "../secrets/adapter.ts";
import { type EnvFile, type EnvFileFault, readEnvFile } from "./env-file.ts";
import { commandFile, DEFAULT_ENV_DIR, isRootsFile } from "./settings-table.ts";
import { sudoLine } from "./sudo-line.ts";

/**
 * The settings of a command.
 *
 * Shape: `env` has those of the environment, then those of the file at `path`, which is null for a command without one;
 *        `isThere` says whether that file exists, `names` are those of the variables that it sets, `repeated` those with
 *        two values; `hidden` names what both have with different values: the environment's counts.
 */
export type CommandSettings = {
  env: Environment;
  path: string | null;
  isThere: boolean;
  names: string[];
  repeated: string[];
  hidden: string[];
};

/** Told at most. */
const MOST_FAULTS = 20;

/**
 * Reads the environment file of a command, and lays it under the environment.
 *
 * Behaviour: an empty setting counts as absent, so the file is asked. `OPSCTL_ENV_DIR` moves the directory; set and
 *            empty it turns the file off. The file holds keys: it is read like a secret's file, and parsed, never run.
 *            `typed` is what follows `opsctl` on the command line that advice repeats, with its options: without
 *            `--dry-run` another command would be run.
 * Errors:    CONFIG_INVALID, ENV_FILE_INVALID, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readCommandSettings(words: string, env: Environment, typed = words): CommandSettings {
  const path = pathOf(words, env);
  if (path === null) return { env, path, isThere: false, names: [], repeated: [], hidden: [] };
  const text = readText(words, path, { env, typed });
  const { variables, repeated } = parsed(words, path, text ?? "");
  const given = Object.entries(env).filter(([, value]) => !isBlank(value));
  const hidden = given.flatMap(([name, value]) => {
    const inFile = variables.get(name);
    return isBlank(inFile) || inFile === value ? [] : [name];
  });
  const merged = { ...Object.fromEntries(variables), ...Object.fromEntries(given) };
  const names = [...variables].flatMap(([name, value]) => (isBlank(value) ? [] : [name]));
  return { env: merged, path, isThere: text !== undefined, names, repeated, hidden };
}

function pathOf(words: string, env: Environment): string | null {
  const name = commandFile(words);
  return name === null ? null : settingsPath(name, env);
}

/**
 * The path of an environment file in the directory that `OPSCTL_ENV_DIR` names; null when it is set and empty.
 *
 * Errors: CONFIG_INVALID when it is not an absolute path.
 */
export function settingsPath(
  name: string,
  { OPSCTL_ENV_DIR: directory = DEFAULT_ENV_DIR }: Environment,
): string | null {
  if (isBlank(directory)) return null;
  if (isAbsolute(directory)) return join(directory, name);
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: "Cannot start: OPSCTL_ENV_DIR is not an absolute path",
    hint: `Leave it out for ${DEFAULT_ENV_DIR}; set it to nothing to read no file`,
  });
}

function parsed(words: string, path: string, text: string): EnvFile {
  const file = readEnvFile(text);
  if (file.faults.length > 0) throw invalid(words, path, file.faults);
  return file;
}

function readText(
  words: string,
  path: string,
  { env, typed }: { env: Environment; typed: string },
): string | undefined {
  const reader = `opsctl ${words}`;
  try {
    return readClosedText(path, { subject: `the settings of ${reader}` });
  } catch (error) {
    if (!(error instanceof OpsError) || error.code === "SECRET_FILE_EXPOSED") throw error;
    const { code, message, cause } = error;
    // The file is open to this account; what it is, is wrong.
    if (code === "SECRET_FILE_UNREADABLE" && cause === undefined)
      throw new OpsError({ code, message, hint: "Make it a text file of NAME=value lines, at most 1 MiB" });
    // Another account than the reader is the wrong one to ask.
    const isOther = isClosedHere(cause) && !wasRoot() && !isReader(path);
    const hint = isOther ? sudoLine(`${typed}`, env) : WRONG_OWNER;
    throw new OpsError({ code, message, hint, cause });
  }
}

/** Whether this process is the account that reads the file on a host. */
function isReader(path: string): boolean {
  const uid = process.geteuid?.();
  return !isRootsFile(basename(path)) && uid !== undefined && accountOf(uid).name === SERVICE_ACCOUNT;
}

const WRONG_OWNER =
  "Look at the file, then give it to the account that reads it, mode 0600: root for collect-metrics.env, opsctl for " +
  "the others; with OPSCTL_ENV_DIR set to nothing no file is read";

function invalid(words: string, path: string, faults: readonly EnvFileFault[]): OpsError {
  const lines = faults.slice(0, MOST_FAULTS).map(({ line, problem }) => `  line ${line} ${problem}`);
  if (faults.length > MOST_FAULTS) lines.push(`  and ${faults.length - MOST_FAULTS} more lines`);
  return new OpsError({
    code: "ENV_FILE_INVALID",
    message: [`Cannot read the settings of opsctl ${words}: file ${path}`, ...lines].join("\n"),
    hint: "The file is never read by a shell: NAME=value or NAME='value', one a line",
  });
}

function isBlank(text: string | undefined): text is undefined | "" {
  return text === undefined || text.trim() === "";
}
