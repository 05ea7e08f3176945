import type { Stats } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { readClosedText } from "../files/closed-file.ts";
import { isRoot } from "../privileges.ts";
import { runSecretCommand } from "./command.ts";
import { registerSecret } from "./redact.ts";
import { ROOT_SECRETS_DIR } from "./root-secrets.ts";
import { Secret } from "./secret.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the secret files of the service's account are when `OPSCTL_SECRETS_DIR` is not set. */
export const DEFAULT_SECRETS_DIR = "/etc/opsctl/secrets";

/** The longest secret. */
export const MAX_SECRET_BYTES = 64 * 1024;

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
 * Finds secrets layer by layer: `$CREDENTIALS_DIRECTORY`, `OPSCTL_SECRETS_DIR`, `OPSCTL_SECRETS_COMMAND`, and last,
 * unless `fromEnvironment` is false, the environment variable; undefined when no layer has one.
 *
 * Behaviour: a blank value counts as absent, so the next layer is asked; a layer that fails ends the search, because
 *            going on would hide the fault behind an older or weaker value. A variable that is not used because of its
 *            other value is noted (`onOverruledVariable`).
 * Errors:    those of `readClosedText` and `runSecretCommand`, SECRET_MALFORMED; they name the secret, never its value.
 */
export function secretAdapter(env: Environment, limits: SearchOptions = {}) {
  return async (name: string, options: SearchOptions = {}): Promise<Secret | undefined> => {
    const found = await findSecret(env, name, { ...options, ...limits });
    if (found !== undefined) noteIfOverruled(name, found);
    return found?.secret;
  };
}

type SearchOptions = { fromEnvironment?: boolean; commandLimitMs?: number };

/** One secret as `secretAdapter` finds it, with the layer that had it. */
export async function findSecret(
  env: Environment,
  name: string,
  { fromEnvironment = true, commandLimitMs: limitMs = 10_000 }: SearchOptions = {},
): Promise<FoundSecret | undefined> {
  const credentials = env.CREDENTIALS_DIRECTORY?.trim();
  const secrets = secretsDirectory(env);
  const command = env.OPSCTL_SECRETS_COMMAND?.trim();
  const layers = [
    ["credentials", credentials, () => credentials && readSecretFile(name, credentials, isSystemdCredential)],
    ["file", secrets, () => readSecretFile(name, secrets)],
    ["command", null, () => command && runSecretCommand(name, command, { limitMs, env })],
    ["environment", null, () => (fromEnvironment ? env[name] : "")],
  ] as const;
  for (const [layer, directory, read] of layers) {
    const value = secretValue(name, (await read()) ?? "");
    if (value === "") continue;
    const given = withoutNewline(env[name] ?? "");
    // It is not used, and still never printed.
    if (given.trim() !== "") registerSecret(given);
    const overrules = fromEnvironment && given.trim() !== "" && given !== value;
    return { secret: new Secret(value), layer, path: directory ? join(directory, name) : null, overrules };
  }
  return undefined;
}

/** The text of a secret's file, as `readClosedText` reads it; undefined where there is none. */
export function readSecretFile(
  name: string,
  directory: string,
  isTrusted?: (stats: Stats) => boolean,
): string | undefined {
  const options = { subject: `secret ${name}`, maxBytes: MAX_SECRET_BYTES };
  return readClosedText(join(directory, name), isTrusted ? { ...options, isTrusted } : options);
}

/**
 * The value in a text, without one line break at its end; empty for a blank one.
 *
 * Errors: SECRET_MALFORMED for more than one line and for a control character.
 */
export function secretValue(name: string, text: string): string {
  const value = withoutNewline(text);
  if (value.trim() === "") return "";
  if (!/\p{Cc}/u.test(value)) return value;
  throw new OpsError({
    code: "SECRET_MALFORMED",
    message: `Cannot use secret ${name}: it holds a line break or another control character`,
    hint: "Store the value alone, on one line",
  });
}

function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/**
 * The directory of the secret files for this process: `OPSCTL_SECRETS_DIR`, else that of the service's account, else,
 * for a process that is root, root's own, because root reads nothing that the account could have put there.
 */
export function secretsDirectory(env: Environment): string {
  return env.OPSCTL_SECRETS_DIR?.trim() || (isRoot() ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR);
}

/**
 * Whether a file in `$CREDENTIALS_DIRECTORY` has owner and mode as systemd sets them for the account `userId`: root's,
 * mode 0400, and an access list for the account, whose mask `stat` shows as the group's bits. For root there is no list.
 *
 * Source: systemd src/core/exec-credential.c, write_credential (fchmod 0400, fd_add_uid_acl_permission).
 */
export function isSystemdCredential(
  { mode, uid, gid }: Pick<Stats, "mode" | "uid" | "gid">,
  userId = process.geteuid?.(),
): boolean {
  return (mode & 0o777) === 0o440 && uid === 0 && gid === 0 && userId !== 0;
}

const overruled = new Map<string, string>();
let onOverruled: (name: string, source: string) => void = () => {};

/** Calls `listener` once for each variable that is not used because `source` comes first, also for those known already. */
export function onOverruledVariable(listener: (name: string, source: string) => void): void {
  onOverruled = listener;
  for (const [name, source] of overruled) listener(name, source);
}

/** Takes note of the variable that a secret's own file or command overrules. */
export function noteIfOverruled(name: string, { overrules, path }: FoundSecret): void {
  if (!overrules || overruled.has(name)) return;
  const source = path ?? "OPSCTL_SECRETS_COMMAND";
  overruled.set(name, source);
  onOverruled(name, source);
}
