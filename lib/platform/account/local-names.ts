import { readFileSync } from "node:fs";
import { join } from "node:path";
import { asksFilesFirst, nameSources } from "./name-sources.ts";

/** The names of an account and its groups, for a program that looks up whatever it is given. */
export type LocalNames = { user: string; group: string; groups: readonly string[] };

/** No comma, which separates names, and nothing that a program could take for an option. */
const PLAIN_NAME = /^[A-Za-z0-9_][^,\s]*$/;

/**
 * The names by which the files of this host know an account, its group and all its groups; null where a directory
 * service may be asked for one of them, or a name leads to another number.
 *
 * Behaviour: what is found in /etc/passwd and /etc/group is found without a directory service, also while that hangs. A
 *            bare number is no such name: setpriv asks every source whether one is called like that. Groups that only a
 *            directory service knows are left out.
 * Source:    setpriv(1), util-linux 2.38 (getpwnam before the number is read); passwd(5), group(5), initgroups(3).
 */
export function localNames(
  { name, uid, gid }: { name: string | null; uid: number; gid: number },
  etc = "/etc",
): LocalNames | null {
  const sources = nameSources(join(etc, "nsswitch.conf"));
  if (name === null || !asksFilesFirst(sources, "passwd") || !asksFilesFirst(sources, "group")) return null;
  const [accounts, groups] = [linesOf(join(etc, "passwd")), linesOf(join(etc, "group"))];
  const own = groups.find(([, , number]) => number === `${gid}`);
  const others = groups.filter(([, , , members = ""]) => members.split(",").includes(name));
  const all = own === undefined ? [] : [...new Set([own, ...others])];
  const isKnown =
    all.length > 0 && all.every((line) => leadsTo(groups, line)) && leadsTo(accounts, [name, "", `${uid}`]);
  return isKnown ? { user: name, group: own![0]!, groups: all.map(([group]) => group!) } : null;
}

/** Whether only one line has the name, with this number. */
function leadsTo(lines: readonly string[][], [name = "", , number]: readonly string[]): boolean {
  const found = lines.filter(([one]) => one === name);
  return PLAIN_NAME.test(name) && found.length === 1 && found[0]?.[2] === number;
}

function linesOf(path: string): string[][] {
  try {
    const lines = readFileSync(path, "utf8").split("\n");
    return lines.map((line) => line.split(":"));
  } catch {
    return [];
  }
}
