import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Writes `text` to `path` so that a reader sees the old file or the whole new one, and a power cut keeps either.
 *
 * Behaviour: writes a temporary file beside `path`, syncs it and renames it. A missing directory is an error. With
 *            `owner`, which root alone can give, the file is that account's before it gets its name.
 * Errors:    those of the file system: then the old file is untouched and no temporary file is left.
 */
export function writeFileAtomic(
  path: string,
  text: string,
  { mode, owner }: { mode: number; owner?: { uid: number; gid: number } },
): void {
  const temporary = join(dirname(path), `.${basename(path)}.${crypto.randomUUID().slice(-12)}.tmp`);
  try {
    withDescriptor(openSync(temporary, "wx", mode), (file) => {
      writeFileSync(file, text);
      // The mode given to open is narrowed by the process's umask.
      fchmodSync(file, mode);
      if (owner !== undefined) fchownSync(file, owner.uid, owner.gid);
      fsyncSync(file);
    });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  try {
    withDescriptor(openSync(dirname(path), "r"), fsyncSync);
  } catch {
    // The new file is in place: only a power cut could now bring the old one back.
  }
}

function withDescriptor(descriptor: number, use: (descriptor: number) => void): void {
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
