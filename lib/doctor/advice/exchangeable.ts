import { lstatSync } from "node:fs";
import { dirname } from "node:path";
import { type Step, wayTo } from "../../platform/files/trusted-path.ts";

/** An account, and what it could exchange. */
type Account = { uid: number; gid: number };

const STICKY = 0o1000;

/**
 * Whether the account could lead a line elsewhere that root runs later: it owns a directory or a link on the way to the
 * path, or may write there. True where nobody can follow that way.
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

/** In a sticky directory it cannot exchange what is another's, and can put something where nothing is. */
function mayWrite(step: Step, account: Account, isWithSticky: boolean): boolean {
  if (step.uid === account.uid) return true;
  if (step.kind === "link" || ((step.mode & STICKY) !== 0 && !isWithSticky)) return false;
  const isInGroup = (step.mode & 0o020) !== 0 && lstatSync(step.path).gid === account.gid;
  return isInGroup || (step.mode & 0o002) !== 0;
}
