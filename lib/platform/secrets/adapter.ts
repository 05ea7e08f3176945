import { join } from "node:path";
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

/** A secret and where it was; `overrules` says that the environment has another value, which is not used. */
export type FoundSecret = {
  secret: Secret;
  layer: "credentials" | "file" | "command" | "environment";
  path: string | null;
  overrules: boolean;
};

type SearchOptions = { fromEnvironment?: boolean | undefined; commandLimitMs?: number };

/** Finds secrets as `findSecret` does, and notes a variable that is not used (`onOverruledVariable`). */
export function secretAdapter(env: Environment) {
  return async (name: string, options?: SearchOptions): Promise<Secret | undefined> => {
    const found = await findSecret(env, name, options);
    if (found !== undefined) noteIfOverruled(name, found);
    return found?.secret;
  };
}

/**
 * Finds a secret layer by layer: `$CREDENTIALS_DIRECTORY`, `OPSCTL_SECRETS_DIR`, `OPSCTL_SECRETS_COMMAND`, and last,
 * unless `fromEnvironment` is false, the environment variable; undefined when no layer has it.
 *
 * Behaviour: a blank value counts as absent, so the next layer is asked; a layer that fails ends the search, because
 *            going on would hide the fault behind an older or weaker value.
 * Errors:    those of `readClosedText` and `runSecretCommand`, SECRET_MALFORMED; they name the secret or its directory, never its value.
 */
export async function findSecret(
  env: Environment,
  name: string,
  { fromEnvironment = true, commandLimitMs: limitMs = 10_000 }: SearchOptions = {},
): Promise<FoundSecret | undefined> {
  const credentials = env.CREDENTIALS_DIRECTORY?.trim();
  const secrets = secretsDirectory(env);
  const command = env.OPSCTL_SECRETS_COMMAND?.trim();
  const layers = [
    ["credentials", credentials, () => credentials && readSecretFile(name, credentials)],
    ["file", secrets, () => readSecretFile(name, secrets)],
    ["command", null, () => command && runSecretCommand(name, command, { limitMs, env })],
    ["environment", null, () => (fromEnvironment ? env[name] : "")],
  ] as const;
  for (const [layer, directory, read] of layers) {
    const value = secretValue(name, (await read()) ?? "");
    if (value === "") continue;
    const given = withoutNewline(env[name] ?? "");
    const isOther = given.trim() !== "" && given !== value;
    // It is not used, and still never printed.
    if (isOther) registerSecret(given);
    const path = directory ? join(directory, name) : null;
    return { secret: new Secret(value), layer, path, overrules: fromEnvironment && isOther };
  }
  return undefined;
}

/** The text of a secret's file, as `readClosedText` reads it; undefined where there is none. */
function readSecretFile(name: string, directory: string): string | undefined {
  return readClosedText(join(directory, name), `secret ${name}`, MAX_SECRET_BYTES);
}

/** The value in a text, without one line break at its end; empty for a blank one. SECRET_MALFORMED for several lines. */
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

/** The directory of the secret files for this process: root reads nothing that the account could have put there. */
export function secretsDirectory(env: Environment): string {
  return env.OPSCTL_SECRETS_DIR?.trim() || (isRoot() ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR);
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
