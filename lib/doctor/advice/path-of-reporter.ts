import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { isRootsFile } from "../../platform/config/env-files/command-file.ts";
import { KNOWN_SECRETS } from "../../platform/config/names/known-secrets.ts";
import { SETTINGS_FILES } from "../../platform/config/names/known-settings.ts";
import { type Way, wayTo } from "../../platform/files/trusted-path.ts";
import { isFree, isOfSystem } from "./free-place.ts";
import type { PathSlot } from "./known-advice.ts";
import type { Reporter } from "./reporter.ts";

/** The directories of opsctl among those of the system. */
const OWN_SETTINGS = /^\/etc\/opsctl[\w.-]*(?:\/|$)/;
/** Where directories of data stand side by side, each of them named after the program that owns it. */
const DATA = [/^\/[\w.-]+\/([^/]+)/, /^\/(?:mnt|media)\/[\w.-]+\/([^/]+)/, /^\/var\/(?:lib|log)\/([^/]+)/];
/** A folder of secrets among the settings; root keeps its own in others. */
const SECRETS_FOLDER = /^(?!root)[\w.-]+$/;
const ACCOUNT_SECRETS = KNOWN_SECRETS.flatMap(({ name, reader }) => (reader === "root" ? [] : [name]));

/**
 * Whether a line that root runs may change this path for the account.
 *
 * Shape:     `isPassing` is for a line that lets accounts pass through a directory and nothing more.
 * Behaviour: the account may name any path, in its report and in its own environment files. True is what gives it nothing
 *            that it could turn into root's rights or another's data:
 *            - what is in its own directories and behind no link of theirs, and what it owns or may create itself;
 *            - an environment file, and a secret of its own, by their known names, in a directory that root knows for them;
 *            - a place that is free, in a directory that root alone may write to and that is none of the system: where
 *              root's own configuration names it, or it is in a directory with the account's name among those for data,
 *              such as /srv/opsctl. Another name may mean something to another program, which would then read there what
 *              the account wrote (/srv/salt), and what is there already has an owner.
 */
export function isPathOf(reporter: Reporter, path: string, isPassing: boolean): boolean {
  if (path.split("/").some((part) => part === ".." || part === ".") || path.includes("//")) return false;
  const { uid, directories, settings, secrets } = reporter;
  if (directories.some((one) => isIn(one, path) && !hasLink(one, path))) return true;
  if (namesIn(settings, path).some((name) => isKnownName(name, isPassing))) return true;
  if (namesIn(secrets.filter(isForAccount), path).some((name) => isKnownSecret(name, isPassing))) return true;
  try {
    const way = wayTo(path);
    return isOwned(way, uid) || (mayBePlaced(reporter, path) && isFree(way));
  } catch {
    return false;
  }
}

/** Whether a sentence for root may name this path as what the account has or has to have. */
export function mayBeNamed(reporter: Reporter, path: string, slot: PathSlot): boolean {
  return isPathOf(reporter, path, slot === "secretsdir");
}

/** Why a line for root must not change a path: it is the system's, it is free and unknown to root, or has an owner. */
export type Refusal = "system" | "unknown" | "taken";

/** Why `isPathOf` is false for this path. */
export function refusalOf(path: string): Refusal {
  if (isOfSystem(path)) return "system";
  try {
    return isFree(wayTo(path)) ? "unknown" : "taken";
  } catch {
    return "taken";
  }
}

function isIn(directory: string, path: string): boolean {
  return `${path}/`.startsWith(`${directory}/`);
}

/**
 * Whether the path goes on behind a link at this directory or below: what is there may be another's. A link at the
 * directory that leads to one of the same name is how root puts it on another disk.
 */
function hasLink(directory: string, path: string): boolean {
  try {
    const links = wayTo(path).steps.filter(({ kind }) => kind === "link");
    const below = links.filter((link) => isIn(directory, link.path) && link.path !== path);
    return below.some((link) => link.path !== directory || !keepsItsName(link.path));
  } catch {
    return false;
  }
}

function keepsItsName(link: string): boolean {
  const target = realpathSync(link);
  return basename(target) === basename(link) && !isOfSystem(target);
}

/** The path as seen from each of the directories that it is in. */
function namesIn(directories: readonly string[], path: string): string[] {
  const around = directories.filter((one) => isOwnSettings(one) && isIn(one, path));
  return around.map((directory) => path.slice(directory.length + 1));
}

function isOwnSettings(directory: string): boolean {
  return !isOfSystem(directory) || OWN_SETTINGS.test(directory);
}

/** The directory itself and its folder of secrets stay root's: the account may only pass through them. */
function isKnownName(name: string, isPassing: boolean): boolean {
  if (["", "secrets", "secrets/"].includes(name)) return isPassing;
  if (SETTINGS_FILES.includes(name)) return !isRootsFile(name);
  const [folder = "", secret = "", ...more] = name.split("/");
  return more.length === 0 && SECRETS_FOLDER.test(folder) && ACCOUNT_SECRETS.includes(secret);
}

function isKnownSecret(name: string, isPassing: boolean): boolean {
  return name === "" ? isPassing : ACCOUNT_SECRETS.includes(name);
}

/** Root's own folder of secrets has secrets by the same names. */
function isForAccount(directory: string): boolean {
  return SECRETS_FOLDER.test(directory.slice(directory.lastIndexOf("/") + 1));
}

/**
 * What does not exist counts as owned by the owner of the last directory on the way. Below /proc a path leads each
 * process elsewhere, such as to where root stands when it runs the line.
 */
function isOwned({ steps, end }: Way, uid: number): boolean {
  return !steps.some(({ path }) => path === "/proc") && (end ?? steps.at(-1))?.uid === uid;
}

/** Below a directory that root chose only while that one is free: else it may be one that many programs share. */
function mayBePlaced({ name, chosen, secrets }: Reporter, path: string): boolean {
  if (isOfSystem(path)) return false;
  const isChosen = [...chosen, ...secrets].some((one) => isIn(one, path) && isFree(wayTo(one)));
  return isChosen || isNamedAfter(name, path);
}

/** Whether a path is in a directory with this name among those for data. */
export function isNamedAfter(name: string, path: string): boolean {
  return DATA.some((place) => place.exec(path)?.[1] === name);
}
