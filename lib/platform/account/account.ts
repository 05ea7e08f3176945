import { readFileSync } from "node:fs";
import process from "node:process";

/** An account of this host; `name` is null for a number that has no line in /etc/passwd. */
export type Account = { name: string | null; uid: number; gid: number };

/** Where a process that has privileges looks for the host's own programs, whatever its environment says. */
export const SAFE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

const ROOT = 0;
/** The group of an account that has none: nogroup, as the kernel shows what it cannot map. */
const NO_GROUP = 65534;

/** Whether this process may do everything. */
export function isRoot(): boolean {
  return process.geteuid?.() === ROOT;
}

/** Whose files and directories this process relies on: root's, and its own. */
export function trustedUids(): readonly number[] {
  const own = process.geteuid?.() ?? ROOT;
  return own === ROOT ? [ROOT] : [ROOT, own];
}

/**
 * The account with this number.
 *
 * Errors: those of the file system when the host's list of accounts cannot be read.
 * Source: passwd(5).
 */
export function findAccount(uid: number, passwd = "/etc/passwd"): Account {
  const lines = readFileSync(passwd, "utf8").split("\n");
  const [name, , , gid] = lines.map((line) => line.split(":")).find((fields) => fields[2] === `${uid}`) ?? [];
  const isKnown = name !== undefined && /^\d+$/.test(gid ?? "");
  return isKnown ? { name, uid, gid: Number(gid) } : { name: null, uid, gid: NO_GROUP };
}

/**
 * A command that runs as an account and can never get its privileges back, for a process that is root.
 *
 * Behaviour: the account's own groups, no capability, and no program with a set-user-ID bit helps it.
 *            Starting it takes CAP_SETUID and CAP_SETGID, and no other capability.
 * Source:    setpriv(1), util-linux; Deno 2.9.6 has no setgroups, so that a process there cannot do this to itself.
 */
export function asAccount({ name, uid, gid }: Account, command: readonly string[]): string[] {
  const groups = name === null ? "--clear-groups" : "--init-groups";
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, groups];
  return ["setpriv", ...identity, "--inh-caps=-all", "--no-new-privs", "--", ...command];
}
