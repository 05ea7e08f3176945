import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ServiceAccount } from "../platform/account/service-account.ts";
import { commandFile, isRootsFile } from "../platform/config/env-files/command-file.ts";
import { withDirectories } from "../platform/config/env-files/with-directories.ts";
import { KNOWN_SECRETS, type KnownSecret } from "../platform/config/names/known-secrets.ts";
import { plainSettingsOfFile, SETTINGS_FILES } from "../platform/config/names/known-settings.ts";
import { oddSecrets } from "../platform/config/names/odd-secrets.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../platform/secrets/file.ts";
import { shellWord } from "../platform/shell-word.ts";
import type { FileFacts } from "./file-facts.ts";
import { fileLine } from "./file-line.ts";
import { type FileState, lookAtDirectory, lookAtFile } from "./file-state.ts";
import { type Place, placeOf } from "./place.ts";
import { type DirectoryRefusal, refusedDirectory } from "./refused-directory.ts";
import { leftoversIn } from "./write-secret.ts";

/** A place that has a secret. */
export type SecretSource = {
  kind: "file" | "credential" | "command" | "environment file" | "environment";
  where: string;
};

/** What is wrong, and the line that mends it. */
export type SecretProblem = { where: string; why: string; mend: string };

/**
 * A secret as this host has it.
 *
 * Shape: `state` is `missing` where a command needs it and no place has it, `unset` where none needs it, `unknown`
 *        where this process may not look; `sources` are the places that have it, the one that counts first; `changedAt`
 *        is that of its file.
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

/** Why the environment files of the account could not be read, and what mends it. */
export type Unread = { why: string; mend: string };

/**
 * What a list is made of.
 *
 * Shape: `unread` is null where the account's environment files could be read; `refusalOf` says why root does nothing
 *        in a directory that such a file names, null where it may.
 */
export type ListInput = {
  env: Environment;
  account: ServiceAccount | null;
  facts: readonly FileFacts[];
  unread: Unread | null;
  credentialOf: (secret: KnownSecret) => string | null;
  refusalOf: (directory: string) => DirectoryRefusal | null;
  nowMs: number;
};

/** The whole list: each secret, and what is wrong with their directories. */
export type SecretList = { secrets: ListedSecret[]; problems: SecretProblem[] };

/** What shows an ordinary account all of them. */
export function seenByRoot(env: Environment): string {
  return withDirectories("sudo opsctl secret list", env);
}

/** Where those files are, for people. */
const ACCOUNT_FILES = "the environment files of the account opsctl";

/**
 * Every secret of opsctl with its place on this host.
 *
 * Behaviour: looks at files without opening or following one; holds no value and nothing that tells its length.
 */
export function listSecrets(input: ListInput): SecretList {
  const secrets = KNOWN_SECRETS.map((secret) => listed(secret, input));
  const unread = input.facts.flatMap((file) => unreadProblem(file, input.env));
  const untold = input.unread === null ? [] : [{ where: ACCOUNT_FILES, ...input.unread }];
  return { secrets, problems: [...directoryProblems(input), ...unread, ...untold] };
}

/** The words come from a process of the account, which only tells; what root is given to do is said here. */
function unreadProblem({ name, path, problem, isClosed }: FileFacts, env: Environment): SecretProblem[] {
  if (problem === null) return [];
  if (isClosed) return [{ where: path, why: "this account may not read it", mend: seenByRoot(env) }];
  const mend = withDirectories(`sudo opsctl doctor ${name.replace(/\.env$/, "")}`, env);
  return [{ where: path, why: `it could not be read (${problem})`, mend }];
}

function listed(secret: KnownSecret, input: ListInput): ListedSecret {
  const { name, usedBy } = secret;
  const files = placesOf(secret, input).map((place) => lookAtFile(place, name));
  const sources = sourcesOf(secret, files, input);
  const problems = files.flatMap(({ path, fault }) => (fault === null ? [] : [{ where: path, ...fault }]));
  const used = usedBy.map(({ command, need }) => ({
    command,
    required: need === "required" || (need !== "optional" && isWanted(secret, command, input)),
  }));
  const isRequired = used.some(({ required }) => required);
  const isUnread = readingFiles(secret, input.facts).some(({ problem }) => problem !== null);
  const isUnseen = files.some(({ there }) => there === null) || isUnread || input.unread !== null;
  const changedAtMs = files.find(({ there }) => there === true)?.changedAtMs ?? null;
  const state = stateOf({ isSet: sources.length > 0, isWrong: problems.length > 0, isRequired, isUnseen });
  return { name, state, sources, ...ageOf(changedAtMs, input.nowMs), usedBy: used, problems };
}

function stateOf(found: {
  isSet: boolean;
  isWrong: boolean;
  isRequired: boolean;
  isUnseen: boolean;
}): ListedSecret["state"] {
  if (found.isWrong) return "wrong";
  if (found.isSet) return "set";
  if (found.isUnseen) return "unknown";
  return found.isRequired ? "missing" : "unset";
}

function ageOf(changedAtMs: number | null, nowMs: number): Pick<ListedSecret, "changedAt" | "ageSeconds"> {
  if (changedAtMs === null) return { changedAt: null, ageSeconds: null };
  const ageSeconds = Math.max(0, Math.floor((nowMs - changedAtMs) / 1_000));
  return { changedAt: new Date(changedAtMs).toISOString(), ageSeconds };
}

/** The files in which the commands look for a secret; where it belongs first. */
function placesOf(secret: KnownSecret, { env, account, facts, refusalOf }: ListInput): Place[] {
  const reader = secret.reader === "root" ? null : account;
  const own = placeOf(secret, reader, env);
  const isMoved = (env.OPSCTL_SECRETS_DIR ?? "").trim() !== "";
  const isRoots = own.directory === ROOT_SECRETS_DIR;
  // What root reads, no file of the account moves.
  const files = readingFiles(secret, facts).filter(({ name }) => !isRoots || isRootsFile(name));
  const elsewhere = files.flatMap(({ secretsDir }) => secretsDir ?? []);
  if (isMoved || elsewhere.length === 0) return [own];
  return [...new Set(elsewhere)].map((directory) => {
    const refused = isRoots ? null : refusedDirectory(directory, refusalOf(directory), env);
    return { ...own, directory, refused, path: join(directory, secret.name) };
  });
}

function readingFiles({ usedBy }: KnownSecret, facts: readonly FileFacts[]): FileFacts[] {
  return facts.filter(({ name }) => usedBy.some(({ command }) => commandFile(command) === name));
}

function isWanted({ name }: KnownSecret, command: string, { facts }: ListInput): boolean {
  const file = facts.find((one) => one.name === commandFile(command));
  return file?.wanted.includes(name) ?? false;
}

function sourcesOf(secret: KnownSecret, files: readonly FileState[], input: ListInput): SecretSource[] {
  const { name, fromEnvironment, usedBy } = secret;
  const credential = input.credentialOf(secret);
  const reading = readingFiles(secret, input.facts);
  const asked = input.facts.filter(
    (file) => reading.includes(file) || usedBy.some(({ alsoIn }) => alsoIn === file.name),
  );
  const source = (kind: SecretSource["kind"], where: string): SecretSource => ({ kind, where });
  const isGiven = (input.env[name] ?? "").trim() !== "";
  return [
    ...(credential === null ? [] : [source("credential", credential)]),
    ...files.filter(({ there }) => there).map(({ path }) => source("file", path)),
    ...reading.filter(({ hasCommand }) => hasCommand).map(({ path }) => source("command", path)),
    ...(fromEnvironment && isGiven ? [source("environment", "this terminal")] : []),
    ...asked
      .filter(({ secrets }) => fromEnvironment && secrets.includes(name))
      .map(({ path }) => source("environment file", path)),
  ];
}

/** What is wrong with the directories, each once, and what killed runs left in them. */
function directoryProblems(input: ListInput): SecretProblem[] {
  const places = KNOWN_SECRETS.flatMap((secret) => placesOf(secret, input));
  // Where both share a directory, the account has to enter it: its secrets come first.
  const byPath = new Map(places.toReversed().map((place) => [place.directory, place]));
  return [...byPath.values()].flatMap((place) => {
    const fault = lookAtDirectory(place);
    const own = fault === null ? [] : [{ where: place.directory, why: fault.why, mend: fault.mend }];
    return [...own, ...leftoverProblems(place, input.nowMs), ...strayProblems(place)];
  });
}

/** Files whose names are slips of the pen. */
function strayProblems(place: Place): SecretProblem[] {
  const { directory } = place;
  const secrets = KNOWN_SECRETS.map(({ name }) => name);
  const plain = SETTINGS_FILES.flatMap(plainSettingsOfFile);
  return oddSecrets(namesIn(directory), { secrets, plain }).map(({ name, meant }) => {
    const where = join(directory, name);
    return meant === null
      ? {
          where,
          why: "it has no effect: the setting is no secret",
          mend: fileLine(place, `rm ${shellWord(where)} # and set it in ${filesOf(name)}`),
        }
      : {
          where,
          why: `nothing reads it; did you mean ${meant}?`,
          mend: fileLine(place, `mv -nT ${shellWord(where)} ${shellWord(join(directory, meant))}`),
        };
  });
}

function filesOf(name: string): string {
  return SETTINGS_FILES.filter((file) => plainSettingsOfFile(file).includes(name)).join(" or ");
}

/** None where this process may not look. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function leftoverProblems(place: Place, nowMs: number): SecretProblem[] {
  const left = leftovers(place.directory, nowMs);
  return left.map((path) => ({
    where: path,
    why: "a run that was killed left it; it may hold a secret",
    mend: fileLine(place, `rm ${shellWord(path)} # or the next opsctl secret set there`),
  }));
}

function leftovers(directory: string, nowMs: number): string[] {
  try {
    return leftoversIn(directory, nowMs);
  } catch {
    return [];
  }
}
