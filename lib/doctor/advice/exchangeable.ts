import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { WRITABLE_BY_OTHERS } from "../../platform/files/modes.ts";
import { type Step, wayTo } from "../../platform/files/trusted-path.ts";

/** An account, and what it could exchange. */
type Account = { uid: number; gid: number };

const STICKY = 0o1000;
/** Ubuntu gives the first to the group of its log service; who is in that group, or has an ACL there, is the system's to say. */
const OF_THE_SYSTEM = ["/var/log", "/var/lib"];

/**
 * Whether the account could lead a line elsewhere that root runs later: it owns a directory or a link on the way to the
 * path, or may write there. True where nobody can follow that way.
 */
export function isExchangeable(path: string, account: Account): boolean {
  return isWayOpen(path, (step) => step.uid === account.uid || mayWrite(step, account));
}

/** The same for any account outside `trusted`. */
export function isExchangeableByOthers(path: string, trusted: readonly number[]): boolean {
  return isWayOpen(path, ({ uid, mode }) => !trusted.includes(uid) || (mode & WRITABLE_BY_OTHERS) !== 0);
}

/** In a sticky directory nobody can exchange what is another's, and everybody can put something where nothing is. */
function isWayOpen(path: string, isOpen: (step: Step) => boolean): boolean {
  try {
    const { steps, end } = wayTo(path);
    const last = end !== null && end.uid === 0 ? undefined : steps.at(-1);
    return steps.some((step) => isOpen(step === last && step.kind !== "link" ? step : withoutSharing(step)));
  } catch (error) {
    // Behind a file there is nothing: what counts is who may exchange that file.
    const isBehindFile = (error as NodeJS.ErrnoException).code === "ENOTDIR";
    return !isBehindFile || isWayOpen(dirname(path), isOpen);
  }
}

/** A sticky directory or a link, in which only its owner exchanges what is another's. */
function withoutSharing(step: Step): Step {
  const isOwners = step.kind === "link" || (step.mode & STICKY) !== 0;
  return isOwners ? { ...step, mode: step.mode & ~WRITABLE_BY_OTHERS } : step;
}

/**
 * What a group may write counts as the account's: it may be in that group, and the bits of a group are also those of an
 * access control list.
 */
function mayWrite({ path, mode }: Step, account: Account): boolean {
  const isForGroup = (mode & 0o020) !== 0;
  const isOthersGroup = OF_THE_SYSTEM.includes(path) && lstatSync(path).gid !== account.gid;
  return (isForGroup && !isOthersGroup) || (mode & 0o002) !== 0;
}
