import { constants } from "node:os";

/** What opsctl itself says of a file beside the codes of the file system. */
const OWN_CODES = ["ENOTFILE"];

/**
 * The code of the failure that a child of another account printed as one line of JSON; null where it printed no code of
 * a file system.
 *
 * Behaviour: every process of that account can write into the child's output. So a code that exists is all that is
 *            taken from it; no text of it is shown to root.
 */
export function childFailure(output: string): string | null {
  try {
    const { code } = Object(JSON.parse(output)) as { code?: unknown };
    if (typeof code !== "string") return null;
    return Object.hasOwn(constants.errno, code) || OWN_CODES.includes(code) ? code : null;
  } catch {
    return null;
  }
}
