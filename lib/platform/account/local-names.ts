import { join } from "node:path";
import { textOrEmpty } from "../text-or-empty.ts";
import { accountList, type GroupLine, groupList, MAX_NUMBER } from "./host-lists.ts";
import { asksFilesFirst, nameSources } from "./name-sources.ts";

/** The names of an account and its groups, for a program that looks up whatever it is given. */
export type LocalNames = { user: string; group: string; groups: readonly string[] };

/** No comma, which separates names, nothing that a program could take for an option, and no byte that is not UTF-8. */
const PLAIN_NAME = /^[A-Za-z0-9_][^,\s\p{Cc}\uFFFD]*$/u;
const ROOT = 0;
/** The C library reads the whole list for each name: 4,000 names cost it half a second. */
const MAX_GROUPS = 500;
/** Half of what the kernel takes as one word of a command line. */
const MAX_LENGTH = 65_536;

/**
 * The names by which the files of this host know an account, its group and all its groups; null where a directory
 * service may be asked for one of them, a name leads to another number, or there are too many to be listed.
 *
 * Behaviour: what is found in /etc/passwd and /etc/group is found without a directory service, also while that hangs. A
 *            bare number is no such name: setpriv asks every source whether one is called like that. Groups that only a
 *            directory service knows are left out, and so are root's own group and a number that no group can have.
 * Source:    setpriv(1), util-linux 2.38 (getpwnam before the number is read); passwd(5), group(5), initgroups(3).
 */
export function localNames(
  { name, uid, gid }: { name: string | null; uid: number; gid: number },
  etc = "/etc",
): LocalNames | null {
  const sources = nameSources(join(etc, "nsswitch.conf"));
  if (name === null || !asksFilesFirst(sources, "passwd") || !asksFilesFirst(sources, "group")) return null;
  const accounts = accountList(textOrEmpty(join(etc, "passwd")));
  const groups = groupList(textOrEmpty(join(etc, "group")));
  const own = groups.find(({ number }) => number === gid);
  if (own === undefined || !leadTo(accounts, [{ name, number: uid }])) return null;
  const others = groups.filter((group) => canBeGiven(group) && group.members.includes(name));
  const all = [...new Set([own, ...others])];
  const names = all.map((group) => group.name);
  return leadTo(groups, all) && canBeListed(names) ? { user: name, group: own.name, groups: names } : null;
}

function canBeGiven({ number }: GroupLine): boolean {
  return number !== ROOT && number <= MAX_NUMBER;
}

type Numbered = { name: string; number: number };

/** Whether each of these names stands in one line only, with its number. */
function leadTo(lines: readonly Numbered[], wanted: readonly Numbered[]): boolean {
  const numbers = new Map<string, number | null>();
  for (const { name, number } of lines) numbers.set(name, numbers.has(name) ? null : number);
  return wanted.every(({ name, number }) => PLAIN_NAME.test(name) && numbers.get(name) === number);
}

function canBeListed(names: readonly string[]): boolean {
  return names.length <= MAX_GROUPS && Buffer.byteLength(names.join(",")) <= MAX_LENGTH;
}
