import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { type Step, wayTo } from "../../platform/files/trusted-path.ts";

/** An account, and what it could exchange. */
type Account = { uid: number; gid: number };

const STICKY = 0o1000;
/** Ubuntu gives the first to the group of its log service; the system says who is in that group or has an ACL there. */
const OF_THE_SYSTEM = ["/var/log", "/var/lib"];

/**
 * Whether the account could lead a line elsewhere that root runs later: it owns a directory or a link on the way to the
 * path, or may write there. Also true where that way cannot be followed.
 */
export function isExchangeable(path: string, account: Account): boolean {
  try {
    const { steps, end } = wayTo(path);
    const last = steps.at(-1);
    const isRoots = end !== null && end.uid === 0;
    return steps.some((step) => mayWrite(step, account, !isRoots && step === last));
  } catch (error) {
    // Behind a file there is nothing: what counts is who may exchange that file.
    const isBehindFile = (error as NodeJS.ErrnoException).code === "ENOTDIR";
    return !isBehindFile || isExchangeable(dirname(path), account);
  }
}

/**
 * In a sticky directory it cannot exchange what is another's, and can put something where nothing is. What a group may
 * write counts as the account's: it may be in that group, and the bits of a group are also those of an access control list.
 */
function mayWrite(step: Step, account: Account, isWithSticky: boolean): boolean {
  if (step.uid === account.uid) return true;
  if (step.kind === "link" || ((step.mode & STICKY) !== 0 && !isWithSticky)) return false;
  const isForGroup = (step.mode & 0o020) !== 0;
  const isOthersGroup = OF_THE_SYSTEM.includes(step.path) && lstatSync(step.path).gid !== account.gid;
  return (isForGroup && !isOthersGroup) || (step.mode & 0o002) !== 0;
}
