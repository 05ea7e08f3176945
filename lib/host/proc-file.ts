import { readFile } from "node:fs/promises";

/**
 * The text of a file below /proc, or null when the kernel has no such file.
 *
 * Errors: those of the file system but ENOENT.
 */
export async function readProcFile(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
