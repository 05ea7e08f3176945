import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of what tests and make install for themselves. */
export const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "../../.tools");

/**
 * The folder `.tools/<name>` with the files of Debian packages as they would lie below `/`; unpacked once, without
 * root, and nothing of them is installed. Null where they cannot be had. `packages` is called again once the lists
 * of packages are renewed: it may take its names from them. Those of another `architecture` come by lists of their own.
 */
export function debianPackages(name: string, packages: () => string[], architecture?: string): string | null {
  const target = join(TOOLS, name);
  if (existsSync(target)) return target;
  mkdirSync(dirname(target), { recursive: true });
  const folder = mkdtempSync(`${target}-new-`);
  try {
    const options = architecture === undefined ? [] : listsOfItsOwn(join(folder, "apt"), architecture);
    if (!takeOut(packages, folder, options)) return null;
    moveUnlessThere(join(folder, "all"), target);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The options by which apt-get knows another architecture, and leaves what it knows of this one alone. */
function listsOfItsOwn(folder: string, architecture: string): string[] {
  for (const place of ["lists/partial", "cache/archives/partial"])
    mkdirSync(join(folder, place), { recursive: true });
  const settings = [
    `APT::Architecture=${architecture}`,
    `APT::Architectures::=${architecture}`,
    `Dir::State::Lists=${join(folder, "lists")}`,
    `Dir::Cache=${join(folder, "cache")}`,
  ];
  return settings.flatMap((setting) => ["-o", setting]);
}

/** Downloads packages into a folder and unpacks them below `all` in it; whether all of that could be done. */
function takeOut(packages: () => string[], folder: string, options: string[]): boolean {
  const attempt = () => {
    const names = packages();
    return names.length > 0 && run("apt-get", [...options, "download", ...names], folder);
  };
  // A fresh machine has no lists of packages yet; those of this machine only root may fetch.
  if (!attempt() && !(run("apt-get", [...options, "update"], folder) && attempt())) return false;
  const archives = readdirSync(folder).filter((file) => file.endsWith(".deb"));
  return archives.every((archive) => run("dpkg-deb", ["-x", archive, "all"], folder));
}

function run(program: string, words: string[], cwd: string): boolean {
  return spawnSync(program, words, { cwd }).status === 0;
}

/** By rename, so that another process never uses half of it; the one that comes second uses the first one's. */
function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
