import { resolve } from "node:path";
import { type Step, wayTo } from "../../platform/files/trusted-path.ts";

/** A line that changes owner, mode or place of what it names, or removes it. */
export const CHANGES = /^(?:chown|chmod|install|mv|rmdir)\b/;
/** But for the two that a line reads from: /dev/stdin is the system's own link. */
const ABSOLUTE_PATH = /(?<=\s)\/(?!dev\/(?:stdin|null)(?:\s|$))[^\s;&'"#]+/g;

/**
 * The line that mends a finding; where it would change something through a link, what to look at before.
 *
 * Behaviour: the person who runs it is root, and `chmod` and `install` follow links: an account that put one there would
 *            be given a file of root's. A link of root's own on the way is no danger, one at the end is looked at.
 */
export function safeMend(mend: string): string {
  if (!CHANGES.test(mend)) return mend;
  const link = pathsIn(mend)
    .map(linkIn)
    .find((found) => found !== null);
  return link ? `Look at it first: ls -l ${link.path}: a link is there; remove it unless you made it` : mend;
}

/** The paths that a line names. */
export function pathsIn(mend: string): string[] {
  return mend.match(ABSOLUTE_PATH) ?? [];
}

function linkIn(path: string): Step | null {
  try {
    const { steps } = wayTo(path);
    const links = steps.filter(({ kind }) => kind === "link");
    return links.find((link) => link.uid !== 0 || link.path === resolve(path)) ?? null;
  } catch {
    // What cannot be looked at from here is what the line mends.
    return null;
  }
}
