import { resolve } from "node:path";
import { type Step, wayTo } from "../../platform/files/trusted-path.ts";

/** A line that changes the owner, mode or name of the file it names, or removes it. */
export const CHANGES = /^(?:chown|chmod|install|mv|rmdir)\b/;
/** An absolute path, except the two that such a line reads from; /dev/stdin is a link that the system made. */
const ABSOLUTE_PATH = /(?<=\s)\/(?!dev\/(?:stdin|null)(?:\s|$))[^\s;&'"#]+/g;

/**
 * The line that mends a finding; where that line would follow a link, a sentence that says to look at the link first.
 *
 * Behaviour: root runs the line, and `chmod` and `install` follow links: an account that put a link there would get a
 *            file of root's. A link on the way that root made is safe; a link at the end of the path is always reported.
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
    // A path that cannot be read from here is what the line mends.
    return null;
  }
}
