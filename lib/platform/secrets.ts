import { readFileSync, type Stats, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { OpsError } from "./errors.ts";
import { Secret } from "./secret.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Finds one secret by its name; undefined when no layer has it. */
export type SecretAdapter = (
  name: string,
  options?: { fromEnvironment?: boolean },
) => Promise<Secret | undefined>;

/** Where secret files are looked for when `OPSCTL_SECRETS_DIR` is not set. */
export const DEFAULT_SECRETS_DIR = "/etc/opsctl/secrets";

const COMMAND_LIMIT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** Which layer had a secret; `path` is its file in one of the two that hold files. */
export type FoundSecret = {
  secret: Secret;
  layer: "credentials" | "file" | "command" | "environment";
  path: string | null;
};

/**
 * The adapter that resolves every secret, layer by layer: `$CREDENTIALS_DIRECTORY`, `OPSCTL_SECRETS_DIR`,
 * `OPSCTL_SECRETS_COMMAND`, and last, unless `fromEnvironment` is false, the environment variable.
 *
 * Shape:  a blank value is an absent one, so the next layer is asked; a layer that fails ends the search, because
 *         falling through would hide the fault behind an older or weaker value. One trailing newline is dropped.
 * Errors: SECRET_FILE_EXPOSED, SECRET_FILE_UNREADABLE, SECRET_COMMAND_FAILED, SECRET_MALFORMED; they name the
 *         secret, never its value.
 */
export function secretAdapter(env: Environment, limits: { commandLimitMs?: number } = {}): SecretAdapter {
  return async (name, options) => (await findSecret(env, name, { ...options, ...limits }))?.secret;
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
  const secrets = env.OPSCTL_SECRETS_DIR?.trim() || DEFAULT_SECRETS_DIR;
  const layers = [
    ["credentials", credentials, () => readSecretFile(name, credentials, isSystemdCredential)],
    ["file", secrets, () => readSecretFile(name, secrets)],
    ["command", null, () => runSecretCommand(name, command, commandLimitMs)],
    ["environment", null, () => (fromEnvironment ? env[name] : undefined)],
  ] as const;
  for (const [layer, directory, read] of layers) {
    const value = withoutTrailingNewline((await read()) ?? "");
    if (value.trim() === "") continue;
    return {
      secret: new Secret(checked(name, value)),
      layer,
      path: directory == null ? null : join(directory, name),
    };
  }
  return undefined;
}

/**
 * Whether a file in `$CREDENTIALS_DIRECTORY` is as systemd leaves it for the account `userId`, mode 0440 and all.
 *
 * systemd keeps a credential root-owned with mode 0400 and lets the service's user in by an access list, whose mask
 * `stat` shows as the group's bits: 0440. Read by root itself no list is needed, and 0440 is what it says.
 *
 * Source: systemd src/core/exec-credential.c, write_credential (fchmod 0400, fd_add_uid_acl_permission).
 */
export function isSystemdCredential(
  stats: Pick<Stats, "mode" | "uid" | "gid">,
  userId: number | undefined,
): boolean {
  return permissions(stats) === 0o440 && stats.uid === 0 && stats.gid === 0 && userId !== 0;
}

function readSecretFile(
  name: string,
  directory: string | undefined,
  isTrusted: (stats: Stats, userId: number | undefined) => boolean = () => false,
): string | undefined {
  if (!directory?.trim()) return undefined;
  const path = join(directory, name);
  try {
    // The file's own mode counts, not that of a link to it: vault agents and Kubernetes publish by symlink.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    if (!stats.isFile()) throw unreadable(name, path, "it is not a regular file");
    if ((permissions(stats) & 0o066) !== 0 && !isTrusted(stats, process.geteuid?.()))
      throw exposed(name, path, stats);
    if (stats.size > MAX_BYTES) throw unreadable(name, path, `it has more than ${MAX_BYTES} bytes`);
    return decode(name, readFileSync(path));
  } catch (error) {
    if (error instanceof OpsError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw unreadable(name, path, `the file system answered ${code ?? "an unknown error"}`);
  }
}

async function runSecretCommand(
  name: string,
  command: string | undefined,
  limitMs: number,
): Promise<string | undefined> {
  if (!command?.trim()) return undefined;
  if (!isAbsolute(command))
    throw commandFailed(name, "OPSCTL_SECRETS_COMMAND is not the absolute path of one executable");
  const { spawn } = await import("node:child_process");
  const child = spawn(command, [name], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  const chunks: Buffer[] = [];
  let size = 0;
  let fault: string | undefined;
  // The whole process group: a wrapper script's own children must not outlive the limit.
  const kill = (reason: string) => {
    fault ??= reason;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // Already gone.
    }
    child.stdout.destroy();
  };
  const timer = setTimeout(() => kill(`it did not answer within ${limitMs / 1000} s`), limitMs);
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BYTES) kill(`it printed more than ${MAX_BYTES} bytes`);
  });
  try {
    const ended = await new Promise<string | undefined>((resolve) => {
      child.on("error", (error: NodeJS.ErrnoException) => resolve(`it cannot be started: ${error.code}`));
      child.on("close", (code, signal) => resolve(code === 0 ? undefined : endedWith(code, signal)));
    });
    if (fault ?? ended) throw commandFailed(name, (fault ?? ended) as string);
    return decode(name, Buffer.concat(chunks));
  } finally {
    clearTimeout(timer);
  }
}

function endedWith(code: number | null, signal: string | null): string {
  return code === null ? `it was ended by ${signal}` : `it ended with status ${code}`;
}

function decode(name: string, bytes: Uint8Array): string {
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

function permissions(stats: Pick<Stats, "mode">): number {
  return stats.mode & 0o777;
}

function exposed(name: string, path: string, stats: Stats): OpsError {
  const mode = permissions(stats).toString(8).padStart(4, "0");
  return new OpsError({
    code: "SECRET_FILE_EXPOSED",
    message: `Cannot read secret ${name}: file ${path} has mode ${mode}, open to group or others, expected 0600 or 0400`,
    hint: `chmod 0600 ${path}`,
  });
}

function unreadable(name: string, path: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_FILE_UNREADABLE",
    message: `Cannot read secret ${name}: file ${path}: ${reason}`,
    hint: "Give the account that runs opsctl a regular file with mode 0600 or 0400, or remove it",
  });
}

function commandFailed(name: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_COMMAND_FAILED",
    message: `Cannot read secret ${name} from OPSCTL_SECRETS_COMMAND: ${reason}`,
    hint: `Run the command by hand with the one argument ${name}; for a secret it does not have it must print nothing and end with 0`,
  });
}

function malformed(name: string, reason: string): OpsError {
  return new OpsError({
    code: "SECRET_MALFORMED",
    message: `Cannot use secret ${name}: ${reason}`,
    hint: "Store the value alone, on one line",
  });
}
