import { existsSync, lstatSync, type Stats } from "node:fs";
import process from "node:process";
import { isNeeded, KNOWN_SECRETS, type KnownSecret } from "../platform/config/known-secrets.ts";
import { type CommandSettings, readCommandSettings, settingsPath } from "../platform/config/settings-file.ts";
import { commandFile, ENV_FILES } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { type Fix, OpsError } from "../platform/errors.ts";
import { READ_OR_WRITTEN_BY_OTHERS } from "../platform/files/closed-file.ts";
import {
  type DirectoryFault,
  directoryFault,
  kindOf,
  namesOf,
  octal,
  PUT_RIGHT,
} from "../platform/files/directory-fault.ts";
import { type Account, becomeAccount, isRoot, wasRoot } from "../platform/privileges.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { fixOf, OWN_DIRECTORY, type Place, placeOf, webhookCredential } from "./place.ts";

/** Every secret of opsctl as a host has it, and the environment files that cannot be read. */
export type SecretList = ReturnType<typeof listSecrets>;

/** One of them; see `listed`. */
export type ListedSecret = SecretList["secrets"][number];

type Problem = { where: string; why: string; fix: Fix };
type File = Pick<CommandSettings, "env" | "names"> & { name: string; path: string; problem: Problem | null };
type Look = { path: string; stats: Stats | undefined; isUnseen: boolean; problem: Problem | null };

/**
 * Lists the secrets of this host; opens no file of a secret, and returns no value and nothing that shows its length.
 *
 * Behaviour: root looks at its own files first, then becomes the account, and looks at the account's as that.
 * Errors:    ACCOUNT_UNAVAILABLE.
 */
export function listSecrets(given: Environment, account: Account | null, nowMs: number) {
  // Root's own secrets leave the environment with root's rights.
  const env = { ...given };
  const collector = readFile("collect-metrics", env);
  const ofRoot = new Map<KnownSecret, Look[]>();
  for (const secret of KNOWN_SECRETS.filter(({ reader }) => reader === "root"))
    ofRoot.set(secret, [lookAt(placeOf(secret, null, collector.env), secret.name)]);
  if (isRoot() && account !== null) becomeAccount(account);
  const others = ENV_FILES.filter((name) => name !== collector.name);
  const files = [...others.map((name) => readFile(name.replace(/\.env$/, ""), env)), collector];
  const secrets = KNOWN_SECRETS.map((secret) => {
    const names = secret.usedBy.map(({ command }) => commandFile(command));
    const own = files.filter(({ name }) => names.includes(name));
    const places = own.map((file) => placeOf(secret, account, file.env));
    const unique = places.filter(({ path }, at) => places.findIndex((one) => one.path === path) === at);
    const looks = ofRoot.get(secret) ?? unique.map((place) => lookAt(place, secret.name));
    return listed(secret, { env, files, own, looks, nowMs });
  });
  return { secrets, problems: files.flatMap(({ problem }) => problem ?? []) };
}

/** What a command has of its environment file and of this process's environment; `names` are those in the file. */
function readFile(command: string, env: Environment): File {
  const name = commandFile(command) ?? "";
  const path = settingsPath(name, env) ?? name;
  try {
    return { name, ...readCommandSettings(command, env), path, problem: null };
  } catch (error) {
    if (!(error instanceof OpsError)) throw error;
    const why = `it could not be read (${error.code})`;
    const fix = { text: null, command: sudoLine(isRoot() || wasRoot() ? "doctor" : "secret list", env) };
    return { name, path, env, names: [], problem: { where: path, why, fix } };
  }
}

/** Looks at a secret's file and its directory, without opening the file. */
function lookAt(place: Place, name: string): Look {
  const { path, directory, reader } = place;
  const closed = ({ why, command }: DirectoryFault) => {
    return { where: directory, why, fix: { text: OWN_DIRECTORY, command } };
  };
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const leadsNowhere = stats?.isSymbolicLink() === true && !existsSync(path);
    const fault = leadsNowhere ? null : directoryFault(directory, { trusted: [0, reader.uid], entry: name });
    const why = fault === null ? fileFault(path, stats, reader) : null;
    const problem = why === null ? null : { where: path, why, fix: fixOf(place, name) };
    return { path, stats, isUnseen: false, problem: fault === null ? problem : closed(fault) };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const isClosed = !["ENOENT", "ENOTDIR"].includes(code);
    const isReader = process.geteuid?.() === reader.uid;
    const fault = { why: `its reader may not enter it (${code})`, command: PUT_RIGHT[directory] ?? null };
    const problem = isClosed && isReader ? closed(fault) : null;
    return { path, stats: undefined, isUnseen: isClosed && !isReader, problem };
  }
}

/** What keeps a file from being read as a secret; what a link leads to is judged when it is read. */
function fileFault(path: string, stats: Stats | undefined, { name, uid }: Place["reader"]): string | null {
  if (stats === undefined) return null;
  if (stats.isSymbolicLink()) return existsSync(path) ? null : "it is a link that leads to nothing";
  if (!stats.isFile()) return `it is ${kindOf(stats)}`;
  if (stats.uid === uid && (stats.mode & READ_OR_WRITTEN_BY_OTHERS) === 0) return null;
  const found = `owner ${namesOf([stats.uid])}, mode ${octal(stats.mode & 0o777)}`;
  return `it is no file that ${name} alone may read (${found})`;
}

type Found = { env: Environment; files: File[]; own: File[]; looks: Look[]; nowMs: number };

/**
 * A secret as this host has it: `missing` where a command needs it and no place has it, `unset` where none needs it,
 * `unknown` where this process may not look. `sources` are in the order in which they are asked.
 */
function listed(secret: KnownSecret, { env, files, own, looks, nowMs }: Found) {
  const { name, fromEnvironment = true } = secret;
  const credential = webhookCredential(secret);
  const shared = files.filter((file) => secret.isShared && file.name === "webhook.env");
  const pathsWith = (list: File[], variable: string) =>
    list.flatMap((file) => (file.names.includes(variable) ? [file.path] : []));
  const places = {
    credential: credential === null ? [] : [credential],
    file: looks.flatMap(({ stats, path }) => (stats === undefined ? [] : [path])),
    command: pathsWith(own, "OPSCTL_SECRETS_COMMAND"),
    environment: fromEnvironment && env[name]?.trim() ? ["this terminal"] : [],
    "environment file": fromEnvironment ? pathsWith([...new Set([...own, ...shared])], name) : [],
  };
  const kinds = Object.keys(places) as (keyof typeof places)[];
  const sources = kinds.flatMap((kind) => places[kind].map((where) => ({ kind, where })));
  const usedBy = secret.usedBy.map((use) => {
    const { command } = use;
    const file = own.find((one) => one.name === commandFile(command));
    return { command, required: isNeeded(use, file?.env ?? {}) };
  });
  const problems = looks.flatMap(({ problem }) => problem ?? []);
  const isUnseen = looks.some((look) => look.isUnseen) || own.some(({ problem }) => problem !== null);
  const none = usedBy.some(({ required }) => required) ? "missing" : "unset";
  const state = sources.length > 0 ? "set" : isUnseen ? "unknown" : none;
  const changed = looks.find(({ stats }) => stats?.isFile())?.stats?.mtime ?? null;
  return {
    ...{ name, sources, usedBy, problems },
    state: problems.length > 0 ? "wrong" : state,
    changedAt: changed?.toISOString() ?? null,
    ageSeconds: changed === null ? null : Math.max(0, Math.floor((nowMs - changed.getTime()) / 1_000)),
  } as const;
}
