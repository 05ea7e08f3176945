import { readFileSync } from "node:fs";
import process from "node:process";
import { accountList } from "./host-lists.ts";
import { localNames } from "./local-names.ts";

/** An account of this host; `name` is null for a number that has no line in /etc/passwd. */
export type Account = { name: string | null; uid: number; gid: number };

/** The PATH with which a privileged process starts the host's programs, whatever its environment says. */
export const SAFE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

const ROOT = 0;
/** The group of an account without one: nogroup, the kernel's number for what it cannot map. */
const NO_GROUP = 65534;

/** Whether this process is root. */
export function isRoot(): boolean {
  return process.geteuid?.() === ROOT;
}

/** The accounts whose files and directories this process relies on: root and its own. */
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
  const known = accountList(readFileSync(passwd, "utf8")).find(({ number }) => number === uid);
  return known === undefined ? { name: null, uid, gid: NO_GROUP } : { name: known.name, uid, gid: known.gid };
}

/**
 * A command that runs as an account and can never get its privileges back, for a process that is root.
 *
 * Behaviour: it has the account's own groups and no capability but `guard`, and a set-user-ID program gives it none.
 *            Starting it needs CAP_SETUID and CAP_SETGID only, and for a guard that capability. It asks no directory
 *            service for an account that has `localNames`; another one can be waited for without end.
 * Source:    setpriv(1), util-linux; Deno 2.9.6 has no setgroups, so a process cannot do this to itself there.
 */
export function asAccount(
  account: Account,
  command: readonly string[],
  guard: string | null = null,
): string[] {
  const capabilities =
    guard === null ? ["--inh-caps=-all"] : [`--inh-caps=-all,+${guard}`, `--ambient-caps=-all,+${guard}`];
  return ["setpriv", ...identityOf(account), ...capabilities, "--no-new-privs", "--", ...command];
}

function identityOf(account: Account): string[] {
  const { name, uid, gid } = account;
  const names = localNames(account);
  if (names !== null)
    return [`--reuid=${names.user}`, `--regid=${names.group}`, `--groups=${names.groups.join(",")}`];
  return [`--reuid=${uid}`, `--regid=${gid}`, name === null ? "--clear-groups" : "--init-groups"];
}
