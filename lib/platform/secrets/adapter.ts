import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { OpsError } from "../errors.ts";
import { isRoot } from "../privileges.ts";
import { runSecretCommand } from "./command.ts";
import { readSecretFile } from "./file.ts";
import { noteOverruled } from "./overruled.ts";
import { registerSecret } from "./redact.ts";
import { ROOT_SECRETS_DIR } from "./root-secrets.ts";
import { Secret } from "./secret.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Finds one secret by its name; undefined when no layer has it. */
export type SecretAdapter = (
  name: string,
  options?: { fromEnvironment?: boolean },
) => Promise<Secret | undefined>;

/** Where the secret files of the service's account are when `OPSCTL_SECRETS_DIR` is not set. */
export const DEFAULT_SECRETS_DIR = "/etc/opsctl/secrets";

const COMMAND_LIMIT_MS = 10_000;

/**
 * Which layer had a secret; `path` is its file in one of the two that hold files; `overrules` says that the environment
 * has another value, which is not used.
 */
export type FoundSecret = {
  secret: Secret;
  layer: "credentials" | "file" | "command" | "environment";
  path: string | null;
  overrules: boolean;
};

/**
 * The adapter that looks for a secret layer by layer: `$CREDENTIALS_DIRECTORY`, `OPSCTL_SECRETS_DIR`,
 * `OPSCTL_SECRETS_COMMAND`, and last, unless `fromEnvironment` is false, the environment variable.
 *
 * Behaviour: a blank value counts as absent, so the next layer is asked; a layer that fails ends the search, because
 *            going on would hide the fault behind an older or weaker value. One trailing newline is dropped. A variable
 *            of the environment that is not used because of its other value is noted (`onOverruledVariable`).
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE, SECRET_COMMAND_FAILED,
 *            SECRET_COMMAND_UNTRUSTED, SECRET_MALFORMED; they name the secret, never its value.
 */
export function secretAdapter(env: Environment, limits: { commandLimitMs?: number } = {}): SecretAdapter {
  return async (name, options) => {
    const found = await findSecret(env, name, { ...options, ...limits });
    if (found !== undefined) noteIfOverruled(name, found);
    return found?.secret;
  };
}

/** Takes note of the variable that a secret's own file or command overrules. */
export function noteIfOverruled(name: string, { overrules, path }: FoundSecret): void {
  if (overrules) noteOverruled({ name, source: path ?? "OPSCTL_SECRETS_COMMAND" });
}

/**
 * One secret as `secretAdapter` finds it, with the layer that had it.
 *
 * Errors: those of `secretAdapter`.
 */
export async function findSecret(
  env: Environment,
  name: string,
  {
    fromEnvironment = true,
    commandLimitMs = COMMAND_LIMIT_MS,
  }: { fromEnvironment?: boolean; commandLimitMs?: number } = {},
): Promise<FoundSecret | undefined> {
  const { CREDENTIALS_DIRECTORY: credentials, OPSCTL_SECRETS_COMMAND: command } = env;
  const secrets = secretsDirectory(env);
  const layers = [
    [
      "credentials",
      credentials,
      () => (isBlank(credentials) ? undefined : readSecretFile(name, credentials, isSystemdCredential)),
    ],
    ["file", secrets, () => readSecretFile(name, secrets)],
    [
      "command",
      null,
      () =>
        isBlank(command) ? undefined : runSecretCommand(name, command, { limitMs: commandLimitMs, env }),
    ],
    ["environment", null, () => (fromEnvironment ? env[name] : undefined)],
  ] as const;
  for (const [layer, directory, read] of layers) {
    const value = withoutTrailingNewline(decode(name, (await read()) ?? ""));
    if (value.trim() === "") continue;
    const given = withoutTrailingNewline(env[name] ?? "");
    // It is not used, and still never printed.
    if (!isBlank(given)) registerSecret(given);
    return {
      secret: new Secret(checked(name, value)),
      layer,
      path: directory == null ? null : join(directory, name),
      overrules: fromEnvironment && !isBlank(given) && given !== value,
    };
  }
  return undefined;
}

/**
 * The directory of the secret files for this process: `OPSCTL_SECRETS_DIR`, else that of the service's account, else,
 * for a process that is root, root's own, because root reads nothing that the account could have put there.
 */
export function secretsDirectory(env: Environment): string {
  return env.OPSCTL_SECRETS_DIR?.trim() || (isRoot() ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR);
}

/**
 * For a secret that root did not find: says that the service's account has a file of this name, which root does not
 * read; null where it has none, or this process is not root.
 *
 * Behaviour: does not open or follow that file.
 */
export function notReadByRoot(
  env: Environment,
  name: string,
  accountsDir = DEFAULT_SECRETS_DIR,
): string | null {
  if (!isRoot() || !isBlank(env.OPSCTL_SECRETS_DIR)) return null;
  const path = join(accountsDir, name);
  return isThere(path) ? `root does not read ${path}: what root uses itself is in ${ROOT_SECRETS_DIR}` : null;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Whether a file in `$CREDENTIALS_DIRECTORY` has owner and mode (0440) as systemd sets them for the account `userId`.
 *
 * systemd keeps a credential root-owned with mode 0400 and lets the service's user in by an access list, whose mask
 * `stat` shows as the group's bits: 0440. When root itself reads there is no list, and 0440 is a real 0440.
 *
 * Source: systemd src/core/exec-credential.c, write_credential (fchmod 0400, fd_add_uid_acl_permission).
 */
export function isSystemdCredential(
  stats: Pick<Stats, "mode" | "uid" | "gid">,
  userId: number | undefined,
): boolean {
  return (stats.mode & 0o777) === 0o440 && stats.uid === 0 && stats.gid === 0 && userId !== 0;
}

function isBlank(text: string | undefined): text is undefined | "" {
  return text === undefined || text.trim() === "";
}

function decode(name: string, bytes: Uint8Array | string): string {
  if (typeof bytes === "string") return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw malformed(name, "it is not UTF-8 text");
  }
}

function checked(name: string, value: string): string {
  if (/[\0\r\n]/.test(value)) throw malformed(name, "it holds a line break or a NUL character");
  return value;
}

function withoutTrailingNewline(value: string): string {
  return value.replace(/\r?\n$/, "");
}

function malformed(name: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_MALFORMED",
    message: `Cannot use secret ${name}: ${reason}`,
    hint: "Store the value alone, on one line",
  });
}
