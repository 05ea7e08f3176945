import { statSync } from "node:fs";
import { OpsError } from "../platform/errors.ts";
import {
  type Untrusted,
  untrustedEnd,
  untrustedStep,
  type Way,
  wayTo,
} from "../platform/files/trusted-path.ts";

/**
 * The agent's text-file directory, as it was found: its real path, whose it is, and a name for it that stays the same
 * whatever path leads to it.
 */
export type TextDirectory = { path: string; uid: number; key: string };

/**
 * Looks at the text-file directory, and refuses one in which the metrics file would not stay what was written.
 *
 * Behaviour: it may belong to any account, which alone (with root) may then write to it and to everything on the way to
 *            it. Nothing is opened and nothing is created.
 * Errors:    TEXTFILE_DIR_MISSING, TEXTFILE_DIR_UNTRUSTED.
 */
export function findTextDirectory(directory: string): TextDirectory {
  const { steps, end } = lookAt(directory);
  if (end?.kind !== "directory") throw directoryMissing(directory);
  // Whoever owns the directory may change what is in it anyway.
  const trusted = [0, end.uid];
  const found = untrustedStep(steps, trusted) ?? untrustedEnd(end, trusted);
  if (found !== null) throw untrusted(directory, found);
  const { dev, ino } = statSync(end.path, { bigint: true });
  return { path: end.path, uid: end.uid, key: `${dev}-${ino}` };
}

function lookAt(directory: string): Way {
  try {
    return wayTo(directory);
  } catch {
    return { steps: [], end: null };
  }
}

function directoryMissing(directory: string): OpsError {
  return new OpsError({
    code: "TEXTFILE_DIR_MISSING",
    message: `Cannot write metrics: directory ${directory} is not there`,
    hint: "Set TEXTFILE_DIR to the agent's text-file directory, or create it: install -d -m 0755 <directory>",
  });
}

function untrusted(directory: string, { why, mend }: Untrusted): OpsError {
  return new OpsError({
    code: "TEXTFILE_DIR_UNTRUSTED",
    message: `Cannot write metrics to ${directory}: ${why}; another account could put a file or a link there`,
    hint: mend ?? "Set TEXTFILE_DIR to a directory that no other account can exchange, such as one of root's",
  });
}
