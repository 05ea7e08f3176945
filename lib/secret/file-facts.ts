import { isNeeded, KNOWN_SECRETS } from "../platform/config/known-secrets.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { commandFile } from "../platform/config/settings-table.ts";
import { OpsError } from "../platform/errors.ts";
import { isClosedHere } from "../platform/files/closed-file.ts";
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

function factsOf(env: Environment, { name, path }: { name: string; path: string }): FileFacts {
  const isSet = (variable: string) => (env[variable] ?? "").trim() !== "";
  const isWanted = ({ usedBy }: (typeof KNOWN_SECRETS)[number]) =>
    usedBy.some(({ command, need }) => {
      return typeof need !== "string" && commandFile(command) === name && isNeeded(need, env);
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
