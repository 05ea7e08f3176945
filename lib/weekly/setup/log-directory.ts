import { lstatSync } from "node:fs";
import { access, constants, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../last-run/file-name.ts";

/**
 * Why this process could not write the success heartbeat, or null when it could.
 *
 * Shape:     the file system's code.
 * Behaviour: asks the kernel and writes nothing; it also knows of access lists and of file systems that are read-only
 *            or full. The heartbeat is renamed over the old one, so it needs a block also where there is one already.
 */
export async function logDirectoryProblem(logDir: string): Promise<string | null> {
  try {
    if (!(await stat(logDir)).isDirectory()) return "ENOTDIR";
    await access(logDir, constants.W_OK | constants.X_OK);
    if ((await statfs(logDir)).bavail === 0) return "ENOSPC";
    const heartbeat = lstatSync(join(logDir, HEARTBEAT_FILE), { throwIfNoEntry: false });
    return heartbeat?.isDirectory() ? "EISDIR" : null;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}
