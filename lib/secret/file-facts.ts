import { commandFile } from "../platform/config/env-files/command-file.ts";
import { readCommandSettings } from "../platform/config/env-files/settings-file.ts";
import { KNOWN_SECRETS } from "../platform/config/names/known-secrets.ts";
import { OpsError } from "../platform/errors.ts";
import { isClosedHere } from "../platform/files/closed-here.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

/**
 * What an environment file says about secrets: never a value of one.
 *
 * Shape: `name` is the file's, `secrets` those that are set in it, `wanted` the secrets that its settings ask for,
 *        `secretsDir` its `OPSCTL_SECRETS_DIR`, `problem` the code for which it could not be read, `isClosed` says that it
 *        is only closed to this account.
 */
export type FileFacts = {
  name: string;
  path: string;
  secrets: string[];
  wanted: string[];
  secretsDir: string | null;
  hasCommand: boolean;
  problem: string | null;
  isClosed: boolean;
};

/** The environment files of the service account, by a command that reads each of them. */
export const ACCOUNT_COMMANDS = ["weekly", "webhook", "socket-monitor", "alert-rules"] as const;
/** The commands whose file root reads itself. */
export const ROOT_COMMANDS = ["collect-metrics"] as const;

const MAX_PATH = 4_096;
/** What may stand in a word of a shell without quotes: no blank is among it, and so no command. */
const NOT_PLAIN = /[^\w.@%+,=:/-]/gu;

/**
 * Reads the environment files of these commands in a directory; the empty text stands for none.
 *
 * Behaviour: run it as the account that the files belong to: it opens them.
 */
export function readFileFacts(commands: readonly string[], directory: string): FileFacts[] {
  return commands.flatMap((command) => {
    const name = commandFile(command) as string;
    const none = { name, path: `${directory}/${name}`, secretsDir: null, hasCommand: false, isClosed: false };
    try {
      const { env, path, isThere } = readCommandSettings(command, { OPSCTL_ENV_DIR: directory });
      return path !== null && isThere ? [factsOf(env, { name, path })] : [];
    } catch (error) {
      const known = error instanceof OpsError ? error : null;
      const problem = known?.code ?? "INTERNAL_ERROR";
      const isClosed = known !== null && isClosedHere(known.cause);
      return [{ ...none, secrets: [], wanted: [], problem, isClosed }];
    }
  });
}

/**
 * The facts that a process of the service account printed as JSON about the environment files of a directory; null when
 * the text is something else.
 *
 * Behaviour: root does not trust that account. Only names that opsctl knows are taken over, the path of a file is
 *            root's own knowledge, and the one of a directory has a `?` for each character that is not plain.
 */
export function parseFileFacts(text: string, directory: string): FileFacts[] | null {
  try {
    const values: unknown = JSON.parse(text);
    return Array.isArray(values) ? values.flatMap((value) => factsIn(value, directory)) : null;
  } catch {
    return null;
  }
}

function factsOf(env: Environment, { name, path }: { name: string; path: string }): FileFacts {
  const isSet = (variable: string) => (env[variable] ?? "").trim() !== "";
  const isWanted = ({ usedBy }: (typeof KNOWN_SECRETS)[number]) =>
    usedBy.some(({ command, need }) => {
      if (typeof need === "string" || commandFile(command) !== name) return false;
      return need.equals === undefined ? isSet(need.variable) : env[need.variable] === need.equals;
    });
  return {
    name,
    path,
    secrets: KNOWN_SECRETS.map((secret) => secret.name).filter(isSet),
    wanted: KNOWN_SECRETS.filter(isWanted).map((secret) => secret.name),
    secretsDir: env.OPSCTL_SECRETS_DIR?.trim() || null,
    hasCommand: isSet("OPSCTL_SECRETS_COMMAND"),
    problem: null,
    isClosed: false,
  };
}

function factsIn(value: unknown, directory: string): FileFacts[] {
  const { name, secrets, wanted, secretsDir, hasCommand, problem } = Object(value) as FileFacts;
  const isOwnFile = ACCOUNT_COMMANDS.some((command) => commandFile(command) === name);
  if (!isOwnFile) return [];
  return [
    {
      name,
      path: `${directory}/${name}`,
      secrets: known(secrets),
      wanted: known(wanted),
      secretsDir: typeof secretsDir === "string" && secretsDir.startsWith("/") ? plain(secretsDir) : null,
      hasCommand: hasCommand === true,
      problem: typeof problem === "string" ? codeIn(problem) : null,
      // The account says so of its own file, which root is told as what it is.
      isClosed: false,
    },
  ];
}

/** A code is a word: no advice fits into it. */
function codeIn(problem: string): string {
  return /^[A-Z][A-Z_]{1,40}$/.test(problem) ? problem : "INTERNAL_ERROR";
}

function known(names: unknown): string[] {
  if (!Array.isArray(names)) return [];
  return KNOWN_SECRETS.map(({ name }) => name).filter((name) => names.includes(name));
}

/** A path in which the account cannot say anything: root is shown it. */
function plain(path: string): string {
  return path.replace(NOT_PLAIN, "?").slice(0, MAX_PATH);
}
