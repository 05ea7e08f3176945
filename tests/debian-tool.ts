/**
 * Programs of Debian packages that tests use: the one on PATH, else taken out of its package into `.tools`, which needs
 * no root and changes nothing on the machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "../.tools");

/** A program and the package that holds it. */
export type DebianTool = { program: string; packageName: string };

const found = new Map<string, string | null>();

/** The path of the program, once it has answered `--version`; null where there is none and none can be had. */
export function findDebianTool(tool: DebianTool): string | null {
  const known = found.get(tool.program);
  if (known !== undefined) return known;
  const unpacked = join(TOOLS, tool.program);
  const path =
    [() => tool.program, () => unpacked, () => unpack(tool, unpacked)].find((place) => runs(place()))?.() ??
    null;
  found.set(tool.program, path);
  return path;
}

function runs(path: string | null): boolean {
  return path !== null && spawnSync(path, ["--version"]).status === 0;
}

function unpack({ program, packageName }: DebianTool, target: string): string | null {
  if (existsSync(target)) return target;
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, `${program}-`));
  try {
    const download = () => spawnSync("apt-get", ["download", packageName], { cwd: folder }).status === 0;
    // A fresh machine has no lists of packages yet; only root may fetch them.
    if (!download() && (spawnSync("apt-get", ["update"]).status !== 0 || !download())) return null;
    const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
    if (archive === undefined) return null;
    spawnSync("dpkg-deb", ["-x", archive, "all"], { cwd: folder });
    const inside = ["bin", "sbin"].map((name) => join(folder, "all/usr", name, program)).find(existsSync);
    // By rename, so that another test process never starts half a file.
    if (inside !== undefined) renameSync(inside, target);
    return target;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
