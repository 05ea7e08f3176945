import { lstatSync, type Stats } from "node:fs";
import process from "node:process";
import { isNeeded, KNOWN_SECRETS, type KnownSecret } from "../platform/config/known-secrets.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { commandFile, DEFAULT_ENV_DIR, isRootsFile } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { type Fix, OpsError } from "../platform/errors.ts";
import { READ_OR_WRITTEN_BY_OTHERS } from "../platform/files/closed-file.ts";
import { directoryFault, namesOf, octal } from "../platform/files/directory-fault.ts";
import { type Account, becomeAccount, isRoot, wasRoot } from "../platform/privileges.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { directoryFix, fileFix, type Place, placeOf, webhookCredential } from "./place.ts";

/** What is wrong, and what puts it right. */
export type SecretProblem = { where: string; why: string; fix: Fix };

/** A place that has a secret; the kinds are in the order in which they are asked. */
export type SecretSource = {
  kind: "credential" | "file" | "command" | "environment" | "environment file";
  where: string;
};

/**
 * A secret as this host has it.
 *
 * Shape: `state` is `missing` where a command needs it and no place has it, `unset` where none needs it, `unknown`
 *        where this process may not look; of `sources` the first one counts; `changedAt` is that of its file.
 */
export type ListedSecret = {
  name: string;
  state: "set" | "wrong" | "missing" | "unset" | "unknown";
  sources: SecretSource[];
  changedAt: string | null;
  ageSeconds: number | null;
  usedBy: { command: string; required: boolean }[];
  problems: SecretProblem[];
};

/** The whole list: each secret, and the environment files that cannot be read. */
export type SecretList = { secrets: ListedSecret[]; problems: SecretProblem[] };

/** An environment file with what it sets. */
type File = { name: string; path: string; env: Environment; problem: SecretProblem | null };

/** What lies in a secret's place: `stats` is null where nothing does, and where this process may not look. */
type Look = { path: string; stats: Stats | null; isUnseen: boolean; problem: SecretProblem | null };

/**
 * Every secret of opsctl with its places on this host; opens no file of a secret, and holds no value and nothing that
 * tells its length.
 *
 * Behaviour: root looks at its own files first, then becomes the account, and looks at the account's as that.
 * Errors:    ACCOUNT_UNAVAILABLE.
 */
export function listSecrets(given: Environment, account: Account | null, nowMs: number): SecretList {
  // Root's own secrets leave the environment with root's rights.
  const env = { ...given };
  const roots = readFiles(["collect-metrics"], env);
  const looks = (secret: KnownSecret, files: File[]) =>
    placesOf(secret, { env, account, files }).map((place) => lookAt(place, secret.name));
  const ofRoot = new Map(
    KNOWN_SECRETS.filter(({ reader }) => reader === "root").map((secret) => [secret, looks(secret, roots)]),
  );
  if (isRoot() && account !== null) becomeAccount(account);
  const files = [...readFiles(["weekly", "webhook", "socket-monitor", "alert-rules"], env), ...roots];
  return {
    secrets: KNOWN_SECRETS.map((secret) =>
      listed(secret, { env, files, looks: ofRoot.get(secret) ?? looks(secret, files), nowMs }),
    ),
    problems: files.flatMap(({ problem }) => problem ?? []),
  };
}

function readFiles(commands: string[], env: Environment): File[] {
  const { OPSCTL_ENV_DIR = DEFAULT_ENV_DIR } = env;
  return commands.map((command) => {
    const name = commandFile(command) ?? "";
    const file = { name, path: `${OPSCTL_ENV_DIR}/${name}`, env: {}, problem: null };
    try {
      return { ...file, env: readCommandSettings(command, { OPSCTL_ENV_DIR }).env };
    } catch (error) {
      if (!(error instanceof OpsError)) throw error;
      const why = `it could not be read (${error.code})`;
      const fix = { text: null, command: sudoLine(isRoot() || wasRoot() ? "doctor" : "secret list", env) };
      return { ...file, problem: { where: file.path, why, fix } };
    }
  });
}

function filesOf({ usedBy }: KnownSecret, files: readonly File[]): File[] {
  return files.filter(({ name }) => usedBy.some(({ command }) => commandFile(command) === name));
}

/** The files in which the commands look for a secret. */
function placesOf(
  secret: KnownSecret,
  { env, account, files }: { env: Environment; account: Account | null; files: File[] },
): Place[] {
  const isRoots = secret.reader === "root";
  // What root reads, no file of the account moves.
  const own = filesOf(secret, files).filter(({ name }) => !isRoots || isRootsFile(name));
  const settings = own.map((file) => ({
    OPSCTL_SECRETS_DIR: env.OPSCTL_SECRETS_DIR?.trim() || file.env.OPSCTL_SECRETS_DIR,
  }));
  const places = [...settings, ...(own.length === 0 ? [env] : [])].map((one) =>
    placeOf(secret, isRoots ? null : account, one),
  );
  return [...new Map(places.map((place) => [place.path, place])).values()];
}

function lookAt(place: Place, name: string): Look {
  const { path, directory, reader } = place;
  const look = { path, stats: null, isUnseen: false, problem: null };
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false }) ?? null;
    const fault = directoryFault(directory, { trusted: [0, reader.uid], mayBeSticky: true });
    if (fault !== null)
      return { ...look, stats, problem: { where: directory, why: fault, fix: directoryFix(place) } };
    const why = stats === null ? null : fileFault(stats, place);
    return { ...look, stats, problem: why === null ? null : { where: path, why, fix: fileFix(place, name) } };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) return look;
    if (process.geteuid?.() !== reader.uid) return { ...look, isUnseen: true };
    const why = `its reader may not enter it (${code})`;
    return { ...look, problem: { where: directory, why, fix: directoryFix(place) } };
  }
}

/** What keeps a file from being read as a secret; what a link leads to is judged when it is read. */
function fileFault(stats: Stats, { reader }: Place): string | null {
  if (stats.isSymbolicLink()) return null;
  if (!stats.isFile()) return "it is no regular file";
  const { uid, mode } = stats;
  if (uid !== reader.uid) return `it belongs to ${namesOf([uid])}, expected ${namesOf([reader.uid])}`;
  return (mode & READ_OR_WRITTEN_BY_OTHERS) === 0
    ? null
    : `it has mode ${octal(mode & 0o777)}, expected 0600`;
}

function listed(
  secret: KnownSecret,
  { env, files, looks, nowMs }: { env: Environment; files: File[]; looks: Look[]; nowMs: number },
): ListedSecret {
  const own = filesOf(secret, files);
  const sources = sourcesOf(secret, { env, files, looks });
  const usedBy = secret.usedBy.map(({ command, need }) => {
    const file = own.find(({ name }) => name === commandFile(command));
    return { command, required: isNeeded(need, file?.env ?? {}) };
  });
  const problems = looks.flatMap(({ problem }) => problem ?? []);
  const isUnseen = looks.some((look) => look.isUnseen) || own.some(({ problem }) => problem !== null);
  const none = usedBy.some(({ required }) => required) ? "missing" : "unset";
  const found = sources.length > 0 ? "set" : isUnseen ? "unknown" : none;
  const changedMs = looks.find(({ stats }) => stats?.isFile())?.stats?.mtimeMs ?? null;
  return {
    ...{ name: secret.name, state: problems.length > 0 ? "wrong" : found, sources },
    changedAt: changedMs === null ? null : new Date(changedMs).toISOString(),
    ageSeconds: changedMs === null ? null : Math.max(0, Math.floor((nowMs - changedMs) / 1_000)),
    ...{ usedBy, problems },
  };
}

function sourcesOf(
  secret: KnownSecret,
  { env, files, looks }: { env: Environment; files: File[]; looks: Look[] },
): SecretSource[] {
  const { name, fromEnvironment, usedBy } = secret;
  const own = filesOf(secret, files);
  const shared = files.filter(
    (file) => !own.includes(file) && usedBy.some(({ alsoIn }) => alsoIn === file.name),
  );
  const sets = (variable: string, given: Environment) => (given[variable] ?? "").trim() !== "";
  const credential = webhookCredential(secret);
  const found: Record<SecretSource["kind"], string[]> = {
    credential: credential === null ? [] : [credential],
    file: looks.filter(({ stats }) => stats !== null).map(({ path }) => path),
    command: own.filter((file) => sets("OPSCTL_SECRETS_COMMAND", file.env)).map(({ path }) => path),
    environment: fromEnvironment && sets(name, env) ? ["this terminal"] : [],
    "environment file": [...own, ...shared]
      .filter((file) => fromEnvironment && sets(name, file.env))
      .map(({ path }) => path),
  };
  return Object.entries(found).flatMap(([kind, places]) =>
    places.map((where) => ({ kind: kind as SecretSource["kind"], where })),
  );
}
