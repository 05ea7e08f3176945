import { parseDatabaseUrl } from "../database/url.ts";
import {
  type Environment,
  type FoundSecret,
  findSecret,
  noteIfOverruled,
  readSecretFile,
} from "../secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../secrets/root-secrets.ts";
import { Secret } from "../secrets/secret.ts";

/** The variable of the login that owns opsctl's tables, which only migrations need. */
export const OWNER_VARIABLE = "MIGRATE_DATABASE_URL";

/**
 * A database URL, the variable that has it, and in words where that was found ("environment", "secret file /path");
 * `overrules` says that the environment has another value, which is not used.
 */
export type DatabaseLogin = { url: Secret; variable: string; source: string; overrules: boolean };

/** Where a variable can have come from: what this process was given, and the settings file under it. */
export type VariablePlaces = { given: Environment; settingsFile: string | null };

/**
 * The login for migrations: that of the owner where there is one, else DATABASE_URL.
 *
 * Behaviour: asks each layer of secrets once for each of the two. Where there is neither, the owner's is said to be
 *            missing: with the other one, migrations fail on most databases.
 * Errors:    CONFIG_INVALID; those of the secret adapter.
 */
export async function findOwnerLogin(env: Environment, places: VariablePlaces): Promise<DatabaseLogin> {
  const owner = await findSecret(env, OWNER_VARIABLE);
  const found = owner ?? (await findSecret(env, "DATABASE_URL"));
  const variable = owner === undefined && found !== undefined ? "DATABASE_URL" : OWNER_VARIABLE;
  if (found !== undefined) noteIfOverruled(variable, found);
  const url = isUsable(found?.secret.open())
    ? (found as FoundSecret).secret
    : await checkedUrl(variable, asFound(env, variable, found));
  const source = sourceOf(found, variable, places);
  return { url, variable, source, overrules: found?.overrules === true };
}

/**
 * The owner's login as root finds it before it gives up its privileges: in root's own secret file, else in the
 * environment; null when it is in neither.
 *
 * Behaviour: asks no secrets command and opens no file of the service account.
 * Errors:    CONFIG_INVALID, SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export async function rootsOwnerLogin(
  env: Environment,
  directory = ROOT_SECRETS_DIR,
): Promise<DatabaseLogin | null> {
  const inFile = (readSecretFile(OWNER_VARIABLE, directory) ?? "").replace(/\r?\n$/, "");
  const given = env[OWNER_VARIABLE] ?? "";
  const text = inFile.trim() === "" ? given : inFile;
  if (text.trim() === "") return null;
  const url = isUsable(text)
    ? new Secret(text)
    : await checkedUrl(OWNER_VARIABLE, { [OWNER_VARIABLE]: text });
  const source = text === inFile ? `secret file ${directory}/${OWNER_VARIABLE}` : "environment";
  const overrules = given.trim() !== "" && given !== text;
  return { url, variable: OWNER_VARIABLE, source, overrules };
}

/** Whether these settings have another owner's login, which this one overrules. */
export function isOverruledBy(login: DatabaseLogin, env: Environment): boolean {
  const other = env[OWNER_VARIABLE] ?? "";
  return other.trim() !== "" && other !== login.url.open();
}

function isUsable(text: string | undefined): boolean {
  return text !== undefined && !/[\0\r\n]/.test(text) && typeof parseDatabaseUrl(text) !== "string";
}

/** The environment with what was found, so that the secrets command is not asked once more. */
function asFound(env: Environment, variable: string, found: FoundSecret | undefined): Environment {
  return { ...env, OPSCTL_SECRETS_COMMAND: undefined, [variable]: found?.secret.open() };
}

/** For a URL that cannot be used as it is. Says why; what checks and explains a setting is loaded for that alone. */
async function checkedUrl(variable: string, env: Environment): Promise<Secret> {
  const { loadSettings } = await import("./load.ts");
  const required = [variable as "DATABASE_URL" | typeof OWNER_VARIABLE] as const;
  return Object.values(await loadSettings("migrate", { required }, env))[0] as Secret;
}

function sourceOf(found: FoundSecret | undefined, variable: string, places: VariablePlaces): string {
  if (found === undefined || found.layer === "environment") {
    const isGiven = (places.given[variable] ?? "").trim() !== "";
    return isGiven || places.settingsFile === null ? "environment" : `settings file ${places.settingsFile}`;
  }
  if (found.layer === "command") return "OPSCTL_SECRETS_COMMAND";
  return `${found.layer === "file" ? "secret file" : "systemd credential"} ${found.path}`;
}
