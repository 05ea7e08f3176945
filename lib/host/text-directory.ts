import { realpathSync, statSync } from "node:fs";
import { OpsError } from "../platform/errors.ts";
import { directoryFault } from "../platform/files/directory-fault.ts";
import { isRoot } from "../platform/privileges.ts";

/** The agent's text-file directory: its path without links, and its owner. */
export type TextDirectory = { path: string; uid: number };

/**
 * Finds the text-file directory; opens and creates nothing.
 *
 * Behaviour: for root, another account than root and the directory's owner must not be able to exchange it. An owner that
 *            is not root may let others write there: the collector writes as that account.
 * Errors:    TEXTFILE_DIR_MISSING, TEXTFILE_DIR_UNTRUSTED.
 */
export function findTextDirectory(directory: string): TextDirectory {
  const found = lookAt(directory);
  if (found === null)
    throw new OpsError({
      code: "TEXTFILE_DIR_MISSING",
      message: `Cannot write metrics: directory ${directory} is not there`,
      hint: "Set TEXTFILE_DIR to the agent's text-file directory, or create it with mode 0755",
    });
  const fault = isRoot() ? directoryFault(directory, { owner: found.uid === 0 ? null : found.uid }) : null;
  if (fault === null) return found;
  throw new OpsError({
    code: "TEXTFILE_DIR_UNTRUSTED",
    message: `Cannot write metrics to ${directory}: ${fault.why}; another account could put a file or a link there`,
    hint: "Set TEXTFILE_DIR to a directory that no other account can exchange, or give it to the agent's account",
  });
}

function lookAt(directory: string): TextDirectory | null {
  try {
    const path = realpathSync(directory);
    const stats = statSync(path);
    return stats.isDirectory() ? { path, uid: stats.uid } : null;
  } catch {
    return null;
  }
}
