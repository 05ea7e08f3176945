import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { octal } from "../../platform/files/modes.ts";
import type { Account } from "./accounts.ts";

/** What an account wants to do with a file or directory; writing into a directory includes entering it. */
export type Want = "read" | "enter" | "list" | "write-into";

/** Why an account may not, and where on the way. `missing` and `hidden` (this process cannot look): it is not known. */
export type NoAccess = { status: "refused"; at: string; text: string } & (
  | { why: "missing" | "closed" | "no_directory" }
  | { why: "hidden"; error: unknown }
);

/** Whether an account may do what it wants. */
export type Access = { status: "allowed" } | NoAccess;

type Owned = Pick<Stats, "mode" | "uid" | "gid">;

const BITS: Record<Want, number> = { read: 4, enter: 1, list: 5, "write-into": 3 };

/**
 * Whether the mode of a file or directory lets an account do this.
 *
 * Behaviour: the bits of the owner, else of the group, else of others, as the kernel does; access lists are ignored.
 *            Root may do everything.
 */
export function allows({ mode, uid, gid }: Owned, account: Account, want: Want): boolean {
  if (account.uid === 0) return true;
  const shift = account.uid === uid ? 6 : account.gids.includes(gid) ? 3 : 0;
  return ((mode >> shift) & BITS[want]) === BITS[want];
}

/**
 * Whether an account may do this with `path` and enter every directory on the way.
 *
 * Behaviour: judges by modes and owners; opens nothing and tries nothing.
 */
export async function accessOf(path: string, account: Account, want: Want): Promise<Access> {
  for (const step of stepsTo(path)) {
    const isLast = step === path;
    let stats: Stats;
    try {
      stats = await stat(step);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR")
        return { status: "refused", why: "missing", at: step, text: `${step} does not exist` };
      return {
        status: "refused",
        why: "hidden",
        at: step,
        text: `${step} cannot be looked at: ${code}`,
        error,
      };
    }
    if (!stats.isDirectory() && !(isLast && want === "read"))
      return { status: "refused", why: "no_directory", at: step, text: `${step} is not a directory` };
    if (!allows(stats, account, isLast ? want : "enter"))
      return {
        status: "refused",
        why: "closed",
        at: step,
        text: `${step} ${modeText(stats)} is closed to ${account.name}`,
      };
  }
  return { status: "allowed" };
}

/** The code of a directory that an account may not use. */
export function directoryCode({ why }: NoAccess): string {
  return why === "closed" ? "DIRECTORY_CLOSED" : "DIRECTORY_MISSING";
}

/** The advice that lets `owner` read a file: gives the file to it, or opens a directory on the way to pass through. */
export function openingLine({ at }: NoAccess, path: string, owner: string): string {
  return at === path ? givingLine(path, owner) : `chmod o+x ${at}`;
}

/** The advice that gives a file to `owner`. */
export function givingLine(path: string, owner: string): string {
  return `Look at it, then: chown -h ${owner} ${path}`;
}

/** The line that puts a directory where there is none; `options` are those of `install`. */
export function directoryLine({ why, at }: NoAccess, path: string, options: string): string {
  const make = `install -d ${options} ${path.replace(/(?<=.)\/+$/, "")}`;
  return why === "no_directory" ? `mv -nT ${at} ${at}.old && ${make}` : make;
}

/** A mode and its owner: "with mode 0700 of uid 0, gid 0". */
function modeText({ mode, uid, gid }: Owned): string {
  return `with mode ${octal(mode)} of uid ${uid}, gid ${gid}`;
}

function stepsTo(path: string): string[] {
  const steps = [path];
  for (let at = dirname(path); at !== steps[0]; at = dirname(at)) steps.unshift(at);
  return steps;
}
