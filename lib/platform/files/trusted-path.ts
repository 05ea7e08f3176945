import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { trustedUids } from "../privileges.ts";
import { octal, STICKY, WRITABLE_BY_OTHERS } from "./modes.ts";

/** A directory, link or file that an account outside the trusted ones may change, and why. */
export type Foreign = { path: string; why: string };

/** A directory or a link on the way to a path, or what is at its end. */
type Step = { path: string; stats: Stats };

const MAX_LINKS = 40;

/**
 * The first directory or link on the way to a path, or what is at its end, that an account outside `trusted` may change;
 * null where there is none.
 *
 * Behaviour: follows links as the kernel does: the account that may exchange one decides what is at the end. In a sticky
 *            directory only the owner of an entry exchanges it: one on the way is accepted, at the end with
 *            `mayBeSticky`. With `withoutEnd` what is at the end is not judged. What belongs to `owner` is accepted, also
 *            where that account lets others write.
 * Errors:    those of the file system, ENOENT where nothing is there.
 */
export function findForeign(
  path: string,
  {
    trusted = trustedUids(),
    mayBeSticky = false,
    withoutEnd = false,
    owner = null,
  }: {
    trusted?: readonly number[];
    mayBeSticky?: boolean;
    withoutEnd?: boolean;
    owner?: number | null;
  } = {},
): Foreign | null {
  const steps = wayTo(path);
  for (const [at, step] of (withoutEnd ? steps.slice(0, -1) : steps).entries()) {
    if (step.stats.uid === owner) continue;
    const why = foreignness(step, trusted, mayBeSticky || at < steps.length - 1);
    if (why !== null) return { path: step.path, why };
  }
  return null;
}

/**
 * The path of what is at the end of a way, without links.
 *
 * Errors: those of the file system.
 */
export function endOf(path: string): string {
  return wayTo(path).at(-1)?.path ?? path;
}

/** The accounts as a message names them. */
export function namesOf(uids: readonly number[]): string {
  return uids.map((uid) => (uid === 0 ? "root" : `uid ${uid}`)).join(" or ");
}

/** The directories on the way to an absolute path, the first one first, and the path itself. */
export function stepsTo(path: string): string[] {
  const steps = [path];
  for (let at = dirname(path); at !== steps[0]; at = dirname(at)) steps.unshift(at);
  return steps;
}

/** The way to a path as the kernel follows it; opens nothing. */
function wayTo(path: string): Step[] {
  // Not resolved as text: behind a link `..` leads elsewhere.
  const ahead = (isAbsolute(path) ? path : `${process.cwd()}/${path}`).split("/");
  let at = "/";
  const steps = [{ path: at, stats: lstatSync(at) }];
  for (let links = 0; ahead.length > 0; ) {
    const name = ahead.shift() as string;
    if (name === "" || name === ".") continue;
    const next = name === ".." ? dirname(at) : join(at, name);
    const stats = lstatSync(next);
    steps.push({ path: next, stats });
    if (!stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
    const target = readlinkSync(next);
    if (target.startsWith("/")) at = "/";
    ahead.unshift(...target.split("/"));
  }
  return steps;
}

function foreignness({ path, stats }: Step, trusted: readonly number[], mayBeSticky: boolean): string | null {
  const { uid, mode } = stats;
  if (!trusted.includes(uid)) return `${path} belongs to ${namesOf([uid])}, expected ${namesOf(trusted)}`;
  // A link's mode has no meaning.
  if (stats.isSymbolicLink() || (mode & WRITABLE_BY_OTHERS) === 0) return null;
  if (mayBeSticky && stats.isDirectory() && (mode & STICKY) !== 0) return null;
  return `${path} has mode ${octal(mode)}, and group or others may write to it`;
}
