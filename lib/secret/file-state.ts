import { lstatSync, type Stats } from "node:fs";
import { octal } from "../platform/files/modes.ts";
import { namesOf } from "../platform/files/trusted-path.ts";
import { shellWord } from "../platform/shell-word.ts";
import { type DirectoryFault, directoryFault } from "./directory.ts";
import { fileLine } from "./file-line.ts";
import { INSTALLED_DIRECTORIES, type Place } from "./place.ts";

/** What keeps a file from being read as a secret, and the line that mends it. */
export type FileFault = { why: string; mend: string };

/**
 * A secret's file as it lies there; `there` is null for one that this process may not look at.
 *
 * Shape: `changedAtMs` is when it was last written, null for a link.
 */
export type FileState = {
  path: string;
  there: boolean | null;
  changedAtMs: number | null;
  fault: FileFault | null;
};

const MODES = [0o600, 0o400];

/** Looks at the file of a secret without opening or following it. */
export function lookAtFile(place: Place, name: string): FileState {
  const { path } = place;
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { path, there: false, changedAtMs: null, fault: null };
    const changedAtMs = stats.isFile() ? stats.mtimeMs : null;
    return { path, there: true, changedAtMs, fault: faultOf(stats, place, name) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { path, there: code === "ENOTDIR" ? false : null, changedAtMs: null, fault: null };
  }
}

/** What is wrong with a directory of secrets; null where nothing is, or where this process may not look. */
export function lookAtDirectory(place: Place): DirectoryFault | null {
  try {
    return directoryFault(place);
  } catch {
    return null;
  }
}

function faultOf(stats: Stats, place: Place, name: string): FileFault | null {
  const { path, file } = place;
  const word = shellWord(path);
  const anew = fileLine(place, `rm ${word} && ${setLine(place, name)}`);
  // A link of root's is how agents publish secrets; what is behind it is judged when it is read.
  if (stats.isSymbolicLink()) return stats.uid === 0 ? null : { why: "it is a link", mend: anew };
  if (!stats.isFile()) return { why: "it is no regular file", mend: `ls -ld ${word}` };
  // Its other name may be a file of another account: that one is not given away.
  if (stats.nlink > 1) return { why: "it has a second name elsewhere (a hard link)", mend: anew };
  const why = wrongness(stats, file.owner.uid);
  if (why === null) return null;
  const mend = fileLine(place, `chown -h ${file.owner.name} ${word} && chmod 0600 ${word}`);
  return { why, mend };
}

/** `secret set` for this directory. */
function setLine({ directory }: Place, name: string): string {
  const line = `opsctl secret set ${name}`;
  return INSTALLED_DIRECTORIES.includes(directory)
    ? line
    : `OPSCTL_SECRETS_DIR=${shellWord(directory)} ${line}`;
}

function wrongness({ uid, mode }: Stats, owner: number): string | null {
  if (uid !== owner) return `it belongs to ${namesOf([uid])}, expected ${namesOf([owner])}`;
  if (!MODES.includes(mode & 0o777)) return `it has mode ${octal(mode & 0o777)}, expected 0600`;
  return null;
}
