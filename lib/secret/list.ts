import type { Stats } from "node:fs";
import { join } from "node:path";
import { KNOWN_SECRETS, type KnownSecret } from "../platform/config/known-secrets.ts";
import { commandFile, ENV_FILES, isRootsFile, settingsOfFile } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { unknownSecrets } from "../platform/config/unknown-names.ts";
import { type Fix, inWords } from "../platform/errors.ts";
import { octal } from "../platform/files/modes.ts";
import { namesOf } from "../platform/files/trusted-path.ts";
import type { Account } from "../platform/privileges.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../platform/secrets/root-secrets.ts";
import type { FileFacts } from "./file-facts.ts";
import type { Look } from "./look.ts";
import { fixAt, type Place, placeOf } from "./place.ts";
import { isOldLeftover } from "./write-secret.ts";

/** A place that has a secret. */
export type SecretSource = {
  kind: "file" | "credential" | "command" | "environment file" | "environment";
  where: string;
};

/** What is wrong, and what puts it right. */
export type SecretProblem = { where: string; why: string; fix: Fix };

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

/** Why the environment files of the account could not be read, and what puts it right. */
export type Unread = { why: string; fix: Fix };

/**
 * What a list is made of.
 *
 * Shape: `unread` is null where the account's environment files could be read; `lookAt` says what a place's directory
 *        holds.
 */
export type ListInput = {
  env: Environment;
  account: Account | null;
  facts: readonly FileFacts[];
  unread: Unread | null;
  credentialOf: (secret: KnownSecret) => string | null;
  lookAt: (place: Place) => Look;
  nowMs: number;
};

/** The whole list: each secret, and what is wrong with their directories. */
export type SecretList = { secrets: ListedSecret[]; problems: SecretProblem[] };

/** What shows an ordinary account all of them. */
export function seenByRoot(env: Environment): Fix {
  return { text: null, command: sudoLine("secret list", env) };
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

function unreadProblem({ name, path, problem, isClosed }: FileFacts, env: Environment): SecretProblem[] {
  if (problem === null) return [];
  if (isClosed) return [{ where: path, why: "this account may not read it", fix: seenByRoot(env) }];
  const command = sudoLine(`doctor ${name.replace(/\.env$/, "")}`, env);
  return [{ where: path, why: `it could not be read (${problem})`, fix: { text: null, command } }];
}

function listed(secret: KnownSecret, input: ListInput): ListedSecret {
  const { name, usedBy } = secret;
  const files = placesOf(secret, input).map((place) => fileAt(place, name, input));
  const sources = sourcesOf(secret, files, input);
  const problems = files.flatMap(({ path, fault }) => (fault === null ? [] : [{ where: path, ...fault }]));
  const used = usedBy.map(({ command, need }) => ({
    command,
    required: need === "required" || (need !== "optional" && isWanted(secret, command, input)),
  }));
  const isRequired = used.some(({ required }) => required);
  const isUnread = readingFiles(secret, input.facts).some(({ problem }) => problem !== null);
  const isUnseen = files.some(({ stats }) => stats === null) || isUnread || input.unread !== null;
  const found = files.find(({ stats }) => stats)?.stats;
  const changedAtMs = found?.isFile() ? found.mtimeMs : null;
  const state = stateOf({ isSet: sources.length > 0, isWrong: problems.length > 0, isRequired, isUnseen });
  return { name, state, sources, ...ageOf(changedAtMs, input.nowMs), usedBy: used, problems };
}

/** A secret's file as it lies at a place; `stats` as in `Look`. */
type FileState = { path: string; stats: Stats | null | undefined; fault: { why: string; fix: Fix } | null };

function fileAt(place: Place, name: string, { lookAt }: ListInput): FileState {
  const look = lookAt(place);
  const stats = look.files.get(name);
  const fault = stats ? fileFault(stats, place, name) : null;
  const isFirst = fault !== null && look.fault?.code === "FILE_UNTRUSTED";
  return { path: place.path, stats, fault: isFirst ? { ...fault, fix: DIRECTORY_FIRST } : fault };
}

/** A command about a file in a directory that another account can change could be led elsewhere. */
const DIRECTORY_FIRST: Fix = {
  text: "Put its directory right first, then look again:",
  command: "opsctl secret list",
};

const MODES = [0o600, 0o400];

/** What keeps a file from being read as a secret. */
function fileFault(stats: Stats, place: Place, name: string): FileState["fault"] {
  const { uid, mode, nlink } = stats;
  const { owner } = place.file;
  const anew = inWords(`Remove it, then set it again: opsctl secret set ${name}`) as Fix;
  // A link of root's is how agents publish secrets; what is behind it is judged when it is read.
  if (stats.isSymbolicLink()) return uid === 0 ? null : { why: "it is a link", fix: anew };
  if (!stats.isFile()) return { why: "it is no regular file", fix: anew };
  // Its other name may be a file of another account: that one is not given away.
  if (nlink > 1) return { why: "it has a second name elsewhere (a hard link)", fix: anew };
  const fix = fixAt(place, `Give it to ${owner.name}, with mode 0600`, (directory) =>
    [`chown -h ${owner.name} ${directory}/${name}`, `chmod 0600 ${directory}/${name}`].join(" && "),
  );
  if (uid !== owner.uid)
    return { why: `it belongs to ${namesOf([uid])}, expected ${namesOf([owner.uid])}`, fix };
  if (MODES.includes(mode & 0o777)) return null;
  return { why: `it has mode ${octal(mode & 0o777)}, expected 0600`, fix };
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
export function placesOf(
  secret: KnownSecret,
  { env, account, facts }: Pick<ListInput, "env" | "account" | "facts">,
): Place[] {
  const reader = secret.reader === "root" ? null : account;
  const own = placeOf(secret, reader, env);
  const isMoved = (env.OPSCTL_SECRETS_DIR ?? "").trim() !== "";
  const isRoots = own.directory === ROOT_SECRETS_DIR;
  // What root reads, no file of the account moves.
  const files = readingFiles(secret, facts).filter(({ name }) => !isRoots || isRootsFile(name));
  const elsewhere = files.flatMap(({ secretsDir }) => secretsDir ?? []);
  if (isMoved || elsewhere.length === 0) return [own];
  return [...new Set(elsewhere)].map((directory) => ({
    ...own,
    directory,
    path: join(directory, secret.name),
  }));
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
    ...files.filter(({ stats }) => stats).map(({ path }) => source("file", path)),
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
    const { files, fault } = input.lookAt(place);
    const own = fault === null ? [] : [{ where: place.directory, why: fault.why, fix: fault.fix }];
    const there = [...files].flatMap(([name, stats]) => (stats ? [name] : []));
    return [...own, ...leftoverProblems(place, files, input.nowMs), ...strayProblems(place, there)];
  });
}

/** Files whose names are slips of the pen. */
function strayProblems({ directory }: Place, names: readonly string[]): SecretProblem[] {
  const secrets = KNOWN_SECRETS.map(({ name }) => name);
  return unknownSecrets(names, secrets).map(({ name, meant }) => {
    const [why, text] =
      meant === null
        ? [
            "it has no effect: the setting is no secret",
            `Remove the file, and set ${name} in ${filesOf(name)}`,
          ]
        : [`nothing reads it; did you mean ${meant}?`, `Rename the file to ${meant}`];
    return { where: join(directory, name), why, fix: { text, command: null } };
  });
}

function filesOf(name: string): string {
  return ENV_FILES.filter((file) => settingsOfFile(file).includes(name)).join(" or ");
}

function leftoverProblems({ directory }: Place, files: Look["files"], nowMs: number): SecretProblem[] {
  return [...files].flatMap(([name, stats]) => {
    if (!stats || !isOldLeftover(name, stats, nowMs)) return [];
    const why = "a run that was killed left it; it may hold a secret";
    return [{ where: join(directory, name), why, fix: LEFTOVER }];
  });
}

const LEFTOVER: Fix = { text: "Remove the file, or set any secret there, which removes it", command: null };
