import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { groupList } from "../../platform/account/host-lists.ts";
import { firstProgram } from "../../platform/account/service-account.ts";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import { type Step, type Way, wayTo } from "../../platform/files/trusted-path.ts";

/** An account, and what it could exchange. */
type Account = { name: string; uid: number; gid: number };

const STICKY = 0o1000;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;
/** Ubuntu gives the first to the group of its log service: that group's list and an access control list are judged. */
const OF_THE_SYSTEM = ["/var/log", "/var/lib"];
const LS = ["/usr/bin/ls", "/bin/ls"];
/** Where `ls -l` marks an access control list. */
const ACL_AT = 10;

/** Who could lead a line elsewhere; `doubtful` is the first directory of which nobody can tell. */
export type Exchanger = "root" | "account" | { doubtful: string };

/**
 * Who could lead a line elsewhere that root runs later: "account" where it surely may write somewhere on the way to the
 * path, or owns a directory or link there, also where the way cannot be followed; where only root may, "root"; else the
 * first directory of which it is not known whether the account may write to it.
 *
 * Behaviour: what the account owns at the end of the way decides where there is a doubt.
 */
export function whoMayExchange(path: string, account: Account): Exchanger {
  const judge = ({ steps, end }: Way): Exchanger => {
    const doubtful = steps.find((step) => isItsOwn(step, account) || mayBeIts(step));
    if (doubtful === undefined) return "root";
    const isIts = end?.uid === account.uid || steps.some((step) => isItsOwn(step, account));
    return isIts ? "account" : { doubtful: doubtful.path };
  };
  return along(path, judge, "account");
}

/** Whether any account outside `trusted` could; also true where the way cannot be followed. */
export function isExchangeableByOthers(path: string, trusted: readonly number[]): boolean {
  const isOpen = ({ uid, mode }: Step) => !trusted.includes(uid) || (mode & WRITABLE_BY_OTHERS) !== 0;
  return along(path, ({ steps }) => steps.some(isOpen), true);
}

/** What `judge` says of the way to a path; `unknown` where it cannot be followed. */
function along<T>(path: string, judge: (way: Way) => T, unknown: T): T {
  try {
    const way = wayTo(path);
    return judge({ steps: stepsAsOpen(way), end: way.end });
  } catch (error) {
    // Behind a file there is nothing: what counts is who may exchange that file.
    const isBehindFile = (error as NodeJS.ErrnoException).code === "ENOTDIR";
    return isBehindFile ? along(dirname(path), judge, unknown) : unknown;
  }
}

/**
 * The steps of a way, without the bits by which the next one cannot be exchanged: those of a link, and of a sticky
 * directory where the next one is another's. What is missing, and what is not root's, can be put or exchanged in a
 * sticky directory.
 */
function stepsAsOpen({ steps, end }: Way): Step[] {
  const last = end !== null && end.uid === 0 ? undefined : steps.at(-1);
  return steps.map((step) => {
    const isClosed = step.kind === "link" || ((step.mode & STICKY) !== 0 && step !== last);
    return isClosed ? { ...step, mode: step.mode & ~WRITABLE_BY_OTHERS } : step;
  });
}

function isItsOwn({ path, uid, mode }: Step, account: Account): boolean {
  if (uid === account.uid || (mode & OTHERS_WRITE) !== 0) return true;
  return (mode & GROUP_WRITES) !== 0 && isInGroup(lstatSync(path).gid, account);
}

/** By the host's own list; what a directory service knows besides stays in doubt. */
function isInGroup(gid: number, account: Account): boolean {
  if (gid === account.gid) return true;
  const groups = groupList(readFileSync("/etc/group", "utf8"));
  return groups.some(({ number, members }) => number === gid && members.includes(account.name));
}

/**
 * What a group may write counts as the account's: it may be in that group, or get into it by its unit, and the bits of
 * a group are also those of an access control list. So does what belongs to any account but root, which could lead the
 * line elsewhere itself, and a file server may take every account for one without a name on this host.
 */
function mayBeIts({ path, uid, mode }: Step): boolean {
  if (uid !== 0) return true;
  return (mode & GROUP_WRITES) !== 0 && !(isOfTheSystem(path) && hasNoList(path));
}

function isOfTheSystem(path: string): boolean {
  return OF_THE_SYSTEM.some((one) => one === path || realPathOf(one) === path);
}

/** Whether a directory has no access control list. */
function hasNoList(path: string): boolean {
  const ls = firstProgram(LS);
  if (ls === null) return false;
  const { status, stdout } = spawnSync(ls, ["-ld", path], { encoding: "utf8" });
  return status === 0 && stdout[ACL_AT] !== "+";
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
