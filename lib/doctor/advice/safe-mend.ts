import { type Step, wayTo } from "../../platform/files/trusted-path.ts";
import { parseChangingLine } from "./changing-line.ts";

/** What is said instead of a line whose path is not plain. */
export const ODD_PATH =
  "Correct the setting: a command is only shown for an absolute path of a-z, A-Z, 0-9 and . _ @ % + , = : - that has no part . or .. and no slash too many";

/**
 * The line that mends a finding; where that line would follow a link, a sentence that says to look at the link first,
 * and where its path is not plain, one that says so.
 *
 * Behaviour: root runs the line, and `chmod` and `install` follow links: an account that put a link there would get a
 *            file of root's. A link on the way that root made is safe; a link at the end of the path is always
 *            reported.
 */
export function safeMend(mend: string): string {
  const line = parseChangingLine(mend);
  if (line === "other") return mend;
  return line === "unknown" ? ODD_PATH : (lookFirst(line.paths) ?? mend);
}

/** The sentence that says to look at a link on the way to one of these paths; null where none is. */
export function lookFirst(paths: readonly string[]): string | null {
  const link = paths.map(linkIn).find((found) => found !== null);
  return link ? `Look at it first: ls -l ${link.path}: a link is there; remove it unless you made it` : null;
}

function linkIn(path: string): Step | null {
  try {
    const { steps } = wayTo(path);
    const links = steps.filter(({ kind }) => kind === "link");
    return links.find((link) => link.uid !== 0 || link.path === path) ?? null;
  } catch {
    // A path that cannot be read from here is what the line mends.
    return null;
  }
}
