import { type Environment, type FoundSecret, findSecret, noteIfOverruled } from "../secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../secrets/root-secrets.ts";
import type { Secret } from "../secrets/secret.ts";
import { loadSettings } from "./load.ts";

/** The variable of the login that owns opsctl's tables, which only migrations need. */
export const OWNER_VARIABLE = "MIGRATE_DATABASE_URL";

/**
 * A database URL, the variable that has it, and in words where that was found ("environment", "secret file /path");
 * `overrules` says that the environment has another value, which is not used.
 */
export type DatabaseLogin = { url: Secret; variable: string; source: string; overrules: boolean };

/**
 * The login for migrations: the owner's where there is one, else DATABASE_URL.
 *
 * Behaviour: where there is neither, the owner's is said to be missing: with the other one, migrations fail on most
 *            databases.
 * Errors:    CONFIG_INVALID; those of the secret adapter.
 */
export async function findOwnerLogin(env: Environment): Promise<DatabaseLogin> {
  const owner = await findSecret(env, OWNER_VARIABLE);
  const found = owner ?? (await findSecret(env, "DATABASE_URL"));
  const variable = owner === undefined && found !== undefined ? "DATABASE_URL" : OWNER_VARIABLE;
  if (found !== undefined) noteIfOverruled(variable, found);
  return await loginOf(variable, found, env);
}

/**
 * The owner's login as root finds it before it gives up its privileges: in root's own secret file, else in the
 * environment; null when it is in neither.
 *
 * Behaviour: asks no secrets command and opens no file of the service account.
 * Errors:    CONFIG_INVALID; those of the secret adapter.
 */
export async function rootsOwnerLogin(env: Environment): Promise<DatabaseLogin | null> {
  const own = { [OWNER_VARIABLE]: env[OWNER_VARIABLE], OPSCTL_SECRETS_DIR: ROOT_SECRETS_DIR };
  const found = await findSecret(own, OWNER_VARIABLE);
  if (found === undefined) return null;
  return await loginOf(OWNER_VARIABLE, found, own);
}

/** Whether these settings have another owner's login, which this one overrules. */
export function isOverruledBy(login: DatabaseLogin, env: Environment): boolean {
  const other = env[OWNER_VARIABLE] ?? "";
  return other.trim() !== "" && other !== login.url.open();
}

/** What was found, checked as every setting is; without it this is an error. */
async function loginOf(
  variable: "DATABASE_URL" | typeof OWNER_VARIABLE,
  found: FoundSecret | undefined,
  given: Environment,
): Promise<DatabaseLogin> {
  // The secrets command is not asked once more.
  const env = { ...given, OPSCTL_SECRETS_COMMAND: undefined, [variable]: found?.secret.open() };
  const { [variable]: url } = await loadSettings("migrate", { required: [variable] }, env);
  const { layer = "environment", path = null, overrules = false } = found ?? {};
  const sources = {
    ...{ credentials: `systemd credential ${path}`, file: `secret file ${path}` },
    ...{ command: "OPSCTL_SECRETS_COMMAND", environment: "environment" },
  };
  return { url, variable, source: sources[layer], overrules };
}
