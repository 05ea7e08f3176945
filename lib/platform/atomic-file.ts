import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { refuseForeignDirectory } from "./own-file.ts";

/**
 * Writes `text` to `path` so that a reader sees the old file or the whole new one, and a power cut keeps either.
 *
 * Shape:  a temporary file beside `path`, synced, renamed over it, then the directory synced where that can be done.
 * Errors: FILE_UNTRUSTED for root in a directory of another account; those of the file system. Then the old file is untouched and no temporary file is left. The directory
 *         is never created: a missing one is the operator's to see.
 */
export async function writeFileAtomic(path: string, text: string, { mode }: { mode: number }): Promise<void> {
  refuseForeignDirectory(dirname(path));
  const temporary = join(dirname(path), `.${basename(path)}.${randomHex()}.tmp`);
  try {
    await writeSynced(temporary, text, mode);
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  // The new file is in place: a directory that cannot be read or synced only lets a power cut bring the old one back.
  await syncDirectory(dirname(path)).catch(() => {});
}

/**
 * Whether a file's name is that of a temporary file which `writeFileAtomic(path)` left behind when it was killed.
 */
export function isLeftover(name: string, path: string): boolean {
  const prefix = `.${basename(path)}.`;
  return name.startsWith(prefix) && /^[0-9a-f]{12}\.tmp$/.test(name.slice(prefix.length));
}

// The global one: loading node:crypto takes longer than writing the file.
function randomHex(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

async function writeSynced(path: string, text: string, mode: number): Promise<void> {
  await withHandle(await open(path, "wx", mode), async (handle) => {
    await handle.writeFile(text);
    // The mode given to open is narrowed by the process's umask.
    await handle.chmod(mode);
    await handle.sync();
  });
}

async function syncDirectory(path: string): Promise<void> {
  await withHandle(await open(path, "r"), (handle) => handle.sync());
}

async function withHandle(handle: FileHandle, use: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}
