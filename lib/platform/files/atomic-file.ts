import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

const HOUR_MS = 3_600_000;

/**
 * Writes `text` to `path` so that a reader sees the old file or the whole new one, and a power cut keeps either.
 *
 * Behaviour: writes a temporary file beside `path`, syncs it and renames it. A missing directory is an error. With
 *            `owner`, which root alone can give, the file is that account's before it gets its name.
 *            Temporary files of this path that are an hour older are what a killed process or a power cut left, and go.
 * Errors:    those of the file system: then the old file is untouched and no temporary file is left.
 */
export function writeFileAtomic(
  path: string,
  text: string,
  { mode, owner }: { mode: number; owner?: { uid: number; gid: number } },
): void {
  const directory = dirname(path);
  const prefix = `.${basename(path)}.`;
  const temporary = join(directory, `${prefix}${crypto.randomUUID().slice(-12)}.tmp`);
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
    withDescriptor(openSync(directory, "r"), fsyncSync);
    const oldestMs = statSync(path).mtimeMs - HOUR_MS;
    for (const name of readdirSync(directory)) {
      if (!name.startsWith(prefix) || !name.endsWith(".tmp")) continue;
      if (statSync(join(directory, name)).mtimeMs < oldestMs) rmSync(join(directory, name));
    }
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
