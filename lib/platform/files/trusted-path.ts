import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import { shellWord } from "../shell-word.ts";
import { octal, WRITABLE_BY_OTHERS } from "./modes.ts";

/** A directory or a link on the way to a path, or what is at its end; `mode` has the permission bits alone. */
export type Step = { path: string; kind: "directory" | "link" | "other"; uid: number; mode: number };

/** The way to a path: every directory and link on it, and what is at its end; null when nothing is. */
export type Way = { steps: Step[]; end: Step | null };

/**
 * The place on a path where an untrusted account could put something else, and why.
 *
 * Shape: `owner` is that account where it owns the step; `mend` is the command that closes it to group and others, null
 *        where another account owns it.
 */
export type Untrusted = { path: string; why: string; owner: number | null; mend: string | null };

const MAX_LINKS = 40;
/** A directory may be shared on purpose: a sticky one by all accounts, another by a group. */
const UNLESS_SHARED = " # unless others need it, as /tmp: then name another directory";
const STICKY = 0o1000;

/**
 * The way to a path as the kernel would follow it, step by step.
 *
 * Behaviour: opens nothing. A link is a step like a directory: the account that may exchange it decides what is at the
 *            end. When links are exchanged meanwhile, as Kubernetes does, the way is followed once more.
 * Errors:    those of the file system but ENOENT; ELOOP.
 */
export function wayTo(path: string): Way {
  // Not resolved as text: after a link `..` leads elsewhere.
  const whole = isAbsolute(path) ? path : `${process.cwd()}/${path}`;
  const way = walk(whole);
  return way.end === null && way.steps.some(({ kind }) => kind === "link") ? walk(whole) : way;
}

/**
 * The first step that an account outside `trusted` could exchange; null when none can.
 *
 * Behaviour: a directory that group or others may write to lets them exchange what is in it, unless it is sticky: then
 *            only the owner of an entry and of the directory can, and the entry is the next step.
 */
export function untrustedStep(steps: readonly Step[], trusted: readonly number[]): Untrusted | null {
  for (const step of steps) {
    const found = untrustedOwner(step, trusted) ?? (isSticky(step) ? null : openToOthers(step));
    if (found !== null) return found;
  }
  return null;
}

/** Why an account outside `trusted` may change what is at the end of a way; null when none may. */
export function untrustedEnd(end: Step, trusted: readonly number[]): Untrusted | null {
  return untrustedOwner(end, trusted) ?? openToOthers(end);
}

/** The accounts as a message names them. */
export function namesOf(uids: readonly number[]): string {
  return uids.map((uid) => (uid === 0 ? "root" : `uid ${uid}`)).join(" or ");
}

function walk(path: string): Way {
  const ahead = path.split("/");
  const steps: Step[] = [];
  let end = stepAt("/") as Step;
  let links = 0;
  while (ahead.length > 0) {
    const name = ahead.shift() as string;
    if (name === "" || name === ".") continue;
    steps.push(end);
    const next = stepAt(name === ".." ? dirname(end.path) : join(end.path, name));
    if (next === null) return { steps, end: null };
    if (next.kind !== "link") end = next;
    else {
      links += 1;
      if (links > MAX_LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
      steps.push(next);
      const target = readlinkSync(next.path);
      if (target.startsWith("/")) end = stepAt("/") as Step;
      ahead.unshift(...target.split("/"));
    }
  }
  return { steps, end };
}

function stepAt(path: string): Step | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats === undefined
    ? null
    : { path, kind: kindOf(stats), uid: stats.uid, mode: stats.mode & 0o7777 };
}

function kindOf(stats: Stats): Step["kind"] {
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "directory" : "other";
}

function isSticky({ kind, mode }: Step): boolean {
  return kind === "directory" && (mode & STICKY) !== 0;
}

function untrustedOwner({ path, uid }: Step, trusted: readonly number[]): Untrusted | null {
  if (trusted.includes(uid)) return null;
  return {
    path,
    why: `${path} belongs to ${namesOf([uid])}, expected ${namesOf(trusted)}`,
    owner: uid,
    mend: null,
  };
}

function openToOthers({ path, kind, mode }: Step): Untrusted | null {
  // A link's mode has no meaning.
  if (kind === "link" || (mode & WRITABLE_BY_OTHERS) === 0) return null;
  const why = `${path} has mode ${octal(mode)}, and group or others may write to it`;
  return { path, why, owner: null, mend: `chmod go-w ${shellWord(path)}${UNLESS_SHARED}` };
}
