import { lstatSync } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../host/heartbeat-file-name.ts";
import { refuseForeignDirectory } from "../../platform/files/own-file.ts";

/**
 * Why this process could not write the success heartbeat, or null when it could.
 *
 * Shape:     the file system's code, or FILE_UNTRUSTED.
 * Behaviour: asks the kernel and writes nothing; it also knows of access lists and of file systems that are read-only.
 */
export async function logDirectoryProblem(logDir: string): Promise<string | null> {
  try {
    if (!(await stat(logDir)).isDirectory()) return "ENOTDIR";
    await access(logDir, constants.W_OK | constants.X_OK);
    refuseForeignDirectory(logDir);
    const heartbeat = lstatSync(join(logDir, HEARTBEAT_FILE), { throwIfNoEntry: false });
    return heartbeat?.isDirectory() ? "EISDIR" : null;
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return code ?? name;
  }
}
