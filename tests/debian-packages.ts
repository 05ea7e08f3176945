import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of what tests and make install for themselves. */
export const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "../.tools");

/**
 * The folder `.tools/<name>` with the files of Debian packages as they would lie below `/`; unpacked once, without
 * root, and nothing of them is installed. Null where they cannot be had.
 */
export function debianPackages(name: string, packages: string[]): string | null {
  const target = join(TOOLS, name);
  if (existsSync(target)) return target;
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, `${name}-`));
  try {
    if (!download(packages, folder)) return null;
    const archives = readdirSync(folder).filter((file) => file.endsWith(".deb"));
    if (!archives.every((archive) => run("dpkg-deb", ["-x", archive, "all"], folder).status === 0))
      return null;
    moveUnlessThere(join(folder, "all"), target);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function download(packages: string[], folder: string): boolean {
  const once = () => run("apt-get", ["download", ...packages], folder).status === 0;
  // A fresh machine has no lists of packages yet; only root may fetch them.
  return once() || (run("apt-get", ["update"], folder).status === 0 && once());
}

function run(program: string, words: string[], cwd: string): SpawnSyncReturns<Buffer> {
  return spawnSync(program, words, { cwd });
}

/** By rename, so that another process never uses half of it; the one that comes second uses the first one's. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
