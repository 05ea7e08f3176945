import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { refuseForeignDirectory } from "./own-file.ts";

/** The mode of a file, and its owner where that is not the writing process's account. */
export type FileKind = { mode: number; owner?: { uid: number; gid: number } | undefined };

/**
 * Writes `text` to `path` so that a reader sees the old file or the whole new one, and a power cut keeps either.
 *
 * Behaviour: writes a temporary file beside `path`, syncs it, renames it over `path`, then syncs the directory where
 *            that can be done. A missing directory is an error. Blocks the process, because the runtime's threads would
 *            take longer for each step than the step itself. With `owner`, which root alone can give, the file is that
 *            account's before it gets its name.
 * Errors:    FILE_UNTRUSTED for root in a directory of another account; those of the file system. Then the old file is
 *            untouched and no temporary file is left.
 */
export function writeFileAtomic(path: string, text: string, { mode, owner }: FileKind): void {
  refuseForeignDirectory(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${randomHex()}.tmp`);
  try {
    writeSynced(temporary, text, { mode, owner });
    renameSync(temporary, path);
  } catch (error) {
    ignoringErrors(() => unlinkSync(temporary));
    throw error;
  }
  // The new file is in place: a directory that cannot be read or synced only lets a power cut bring the old one back.
  ignoringErrors(() => withDescriptor(openSync(dirname(path), "r"), fsyncSync));
}

/** Whether `name` is a temporary file that `writeFileAtomic(path)` left behind when it was killed. */
export function isLeftover(name: string, path: string): boolean {
  const prefix = `.${basename(path)}.`;
  return name.startsWith(prefix) && /^[0-9a-f]{12}\.tmp$/.test(name.slice(prefix.length));
}

// The global `crypto`: loading node:crypto takes longer than writing the file.
function randomHex(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

function writeSynced(path: string, text: string, { mode, owner }: FileKind): void {
  withDescriptor(openSync(path, "wx", mode), (descriptor) => {
    writeFileSync(descriptor, text);
    // The mode given to open is narrowed by the process's umask.
    fchmodSync(descriptor, mode);
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
    fsyncSync(descriptor);
  });
}

function withDescriptor(descriptor: number, use: (descriptor: number) => void): void {
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function ignoringErrors(act: () => void): void {
  try {
    act();
  } catch {
    // The failure changes nothing for the caller.
  }
}
