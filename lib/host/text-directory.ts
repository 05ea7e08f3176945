import { statSync } from "node:fs";
import { trustedUids } from "../platform/account/account.ts";
import { OpsError } from "../platform/errors.ts";
import {
  type Step,
  type Untrusted,
  untrustedEnd,
  untrustedStep,
  type Way,
  wayTo,
} from "../platform/files/trusted-path.ts";
import { shellWord } from "../platform/shell-word.ts";

/**
 * The agent's text-file directory: its real path, its owner, and a key that is the same for every path that leads to
 * it.
 */
export type TextDirectory = { path: string; uid: number; key: string };

/**
 * Finds the text-file directory; refuses one in which other accounts could exchange the metrics file.
 *
 * Behaviour: it may belong to any account; besides root only that account may be able to write to it and to what is on
 *            its path. Opens and creates nothing.
 * Errors:    TEXTFILE_DIR_MISSING, TEXTFILE_DIR_UNTRUSTED.
 */
export function findTextDirectory(directory: string): TextDirectory {
  const { steps, end } = lookAt(directory);
  if (end?.kind !== "directory") throw directoryMissing(directory, { steps, end });
  // The directory's owner may change what is in it anyway.
  const trusted = [0, end.uid];
  const found = untrustedStep(steps, trusted) ?? untrustedEnd(end, trusted);
  if (found !== null) throw untrusted(directory, { ...found, mend: stableMend(found, steps) });
  const { dev, ino } = statSync(end.path, { bigint: true });
  return { path: end.path, uid: end.uid, key: `${dev}-${ino}` };
}

/** A line about a step behind one of another account could be led elsewhere before root runs it. */
function stableMend({ path, mend }: Untrusted, steps: readonly Step[]): string | null {
  const first = untrustedStep(steps, trustedUids());
  return first === null || first.path === path ? mend : null;
}

function lookAt(directory: string): Way {
  try {
    return wayTo(directory);
  } catch {
    return { steps: [], end: null };
  }
}

function directoryMissing(directory: string, way: Way): OpsError {
  const making = `, or create it: install -d -m 0755 ${shellWord(directory)}`;
  return new OpsError({
    code: "TEXTFILE_DIR_MISSING",
    message: `Cannot write metrics: directory ${directory} is not there`,
    hint: `Set TEXTFILE_DIR to the agent's text-file directory${mayBeMade(directory, way) ? making : ""}`,
  });
}

/**
 * Whether nothing is there, and no account but root and this one could lead the line that makes it elsewhere.
 *
 * Behaviour: the line makes each directory that is missing, and `..` behind one would go on where nobody has looked.
 */
function mayBeMade(directory: string, { steps, end }: Way): boolean {
  const last = steps.at(-1);
  if (end !== null || last === undefined || !directory.startsWith("/")) return false;
  if (directory.split("/").includes("..")) return false;
  return (untrustedStep(steps, trustedUids()) ?? untrustedEnd(last, trustedUids())) === null;
}

function untrusted(directory: string, { why, mend }: Untrusted): OpsError {
  return new OpsError({
    code: "TEXTFILE_DIR_UNTRUSTED",
    message: `Cannot write metrics to ${directory}: ${why}; another account could put a file or a link there`,
    hint: mend ?? "Set TEXTFILE_DIR to a directory that no other account can exchange, such as one of root's",
  });
}
