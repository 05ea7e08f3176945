import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { trustedUids } from "../privileges.ts";

/** The bits of a mode that let group or others change a file. */
export const WRITABLE_BY_OTHERS = 0o022;
/** With this bit only the owner of an entry may exchange it in a directory. */
const STICKY = 0o1000;
/** As many as the kernel follows on a way. */
const MOST_LINKS = 40;

/** Permissions as they are written: `0600`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** What lies in the place of a file, as a message names it. */
export function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return "a link";
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isFile() ? "a regular file" : "a socket or a device";
}

/** The accounts as a message names them. */
export function namesOf(uids: readonly number[]): string {
  return [...new Set(uids)].map((uid) => (uid === 0 ? "root" : `uid ${uid}`)).join(" or ");
}

/** What is wrong on the way to a directory, and the command that puts it right; null but for an installed directory. */
export type DirectoryFault = { why: string; command: string | null };

/** What makes the directories of an installation, and puts them right. */
export const PUT_RIGHT: Readonly<Record<string, string>> = {
  "/etc/opsctl": "chown root:root /etc/opsctl && chmod 0755 /etc/opsctl",
  "/etc/opsctl/secrets": "install -d -o root -g opsctl -m 0750 /etc/opsctl/secrets",
  "/etc/opsctl/root-secrets": "install -d -o root -g root -m 0700 /etc/opsctl/root-secrets",
};

function faultAt(path: string, why: string): DirectoryFault {
  return { why: `${path} ${why}`, command: PUT_RIGHT[path] ?? null };
}

/**
 * Why an account outside `trusted` could exchange a directory or what is in it; null where none can.
 *
 * Behaviour: goes the way as the kernel does, link by link, and judges each directory before what is in it. In a sticky
 *            directory, as /tmp is, only the owner of an entry may exchange it: there the entry on the way, a link too,
 *            has to be of a trusted account. The directory itself may be sticky only for one `entry`. `owner` may let
 *            others write to what is its own.
 * Errors:    those of the file system, ENOENT where the directory or the entry is missing: another account may make it
 *            the next moment, so that it must not be opened then.
 */
export function directoryFault(
  path: string,
  {
    trusted = trustedUids(),
    entry = null,
    owner = null,
  }: { trusted?: readonly number[]; entry?: string | null; owner?: number | null } = {},
): DirectoryFault | null {
  const accepted = owner === null ? trusted : [...trusted, owner];
  const foreign = (uid: number) => `belongs to ${namesOf([uid])}, expected ${namesOf(accepted)}`;
  const ahead = namesIn(join(resolve(path), entry ?? ""));
  for (let at = "/", links = 0; ; ) {
    const name = ahead.shift() ?? null;
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const { uid, mode } = lstatSync(at);
    if (!accepted.includes(uid)) return faultAt(at, foreign(uid));
    const isOpen = uid !== owner && (mode & WRITABLE_BY_OTHERS) !== 0;
    if (isOpen && (name === null || (mode & STICKY) === 0))
      return faultAt(at, `has mode ${octal(mode)}, and group or others may write to it`);
    if (name === null) return null;
    const next = join(at, name);
    const stats = lstatSync(next);
    if (isOpen && !accepted.includes(stats.uid)) return faultAt(next, foreign(stats.uid));
    if (stats.isSymbolicLink()) {
      links += 1;
      if (links > MOST_LINKS) throw Object.assign(new Error("too many links"), { code: "ELOOP" });
      const target = readlinkSync(next);
      if (target.startsWith("/")) at = "/";
      ahead.unshift(...namesIn(target));
    } else if (entry !== null && ahead.length === 0) return null;
    else at = next;
  }
}

const namesIn = (path: string) => path.split("/").filter((name) => name !== "" && name !== ".");
