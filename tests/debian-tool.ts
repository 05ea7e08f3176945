/**
 * Programs of Debian packages that tests use: the one on PATH, else taken out of its package into `.tools`, which needs
 * no root and changes nothing on the machine.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "../.tools/debian");

/** A program and the package that holds it; `readsShare` when it opens files that its package has below /usr/share. */
export type DebianTool = { program: string; packageName: string; readsShare?: boolean };

const found = new Map<string, string | null>();

/** The path of the program, once it has answered `--version`; null where there is none and none can be had. */
export function findDebianTool(tool: DebianTool): string | null {
  const known = found.get(tool.program);
  if (known !== undefined) return known;
  const places = [
    () => tool.program,
    () => unpacked(tool, "alone"),
    () => unpacked(tool, "with dependencies"),
  ];
  const path = places.find((place) => runs(place()))?.() ?? null;
  found.set(tool.program, path);
  return path;
}

function runs(path: string | null): boolean {
  return path !== null && spawnSync(path, ["--version"]).status === 0;
}

/** The starter of the program in a folder that holds its package, and the packages it needs and this machine lacks. */
function unpacked(tool: DebianTool, extent: "alone" | "with dependencies"): string | null {
  const target = join(TOOLS, extent === "alone" ? tool.packageName : `${tool.packageName}-with-dependencies`);
  const starter = join(target, "start", tool.program);
  if (existsSync(starter)) return starter;
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, "new-"));
  try {
    const names = extent === "alone" ? [tool.packageName] : withDependencies(tool.packageName);
    if (!download(names, folder)) return null;
    for (const archive of readdirSync(folder).filter((name) => name.endsWith(".deb")))
      if (spawnSync("dpkg-deb", ["-x", archive, "root"], { cwd: folder }).status !== 0) return null;
    writeStarter(folder, target, tool);
    chmodSync(folder, 0o755);
    // By rename, so that another test process never starts half a package.
    if (!existsSync(target)) renameSync(folder, target);
    return starter;
  } catch {
    // Another process was quicker.
    return existsSync(starter) ? starter : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function withDependencies(packageName: string): string[] {
  const { stdout } = spawnSync(
    "apt-get",
    ["-s", "-o", "Debug::NoLocking=1", "install", "--no-install-recommends", packageName],
    { encoding: "utf8" },
  );
  return [...(stdout ?? "").matchAll(/^Inst (\S+)/gm)].map(([, name]) => name as string);
}

function download(names: readonly string[], folder: string): boolean {
  const attempt = () =>
    names.length > 0 && spawnSync("apt-get", ["download", ...names], { cwd: folder }).status === 0;
  // A fresh machine has no lists of packages yet; only root may fetch them.
  return attempt() || (spawnSync("apt-get", ["update"]).status === 0 && attempt());
}

/** A program outside of its place has to be told where its libraries are, and where its data is. */
function writeStarter(folder: string, target: string, { program, readsShare = false }: DebianTool): void {
  const root = join(target, "root");
  const inside = ["usr/bin", "usr/sbin", "bin", "sbin"].find((place) =>
    existsSync(join(folder, "root", place, program)),
  );
  if (inside === undefined) throw new Error(`No program ${program} in its package`);
  const start = `exec ${quoted(join(root, inside, program))} "$@"`;
  const libraries = ["usr/lib", "lib"].flatMap((place) => librariesBelow(folder, root, place)).join(":");
  const lines = [
    "#!/bin/sh",
    ...(libraries === "" ? [] : [`export LD_LIBRARY_PATH=${quoted(libraries)}`]),
    readsShare ? withShare(root, program, start) : start,
    "",
  ];
  mkdirSync(join(folder, "start"));
  writeFileSync(join(folder, "start", program), lines.join("\n"));
  chmodSync(join(folder, "start", program), 0o755);
}

/** Lays the package's /usr/share over the machine's, for this program alone. */
function withShare(root: string, program: string, start: string): string {
  const layers = quoted(`lowerdir=${join(root, "usr/share")}:/usr/share`);
  const inItsPlace = `mount -t overlay overlay -o ${layers} /usr/share && ${start}`;
  const account = process.geteuid?.() === 0 ? "" : "--map-root-user ";
  return `exec unshare ${account}--mount sh -c ${quoted(inItsPlace)} ${program} "$@"`;
}

function librariesBelow(folder: string, root: string, place: string): string[] {
  const inside = join(folder, "root", place);
  if (!existsSync(inside)) return [];
  const folders = readdirSync(inside).filter((name) => name.endsWith("-linux-gnu"));
  return folders.map((name) => join(root, place, name));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
