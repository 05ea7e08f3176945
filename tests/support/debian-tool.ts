/**
 * Programs of Debian packages that tests use: the one on PATH, else taken out of its package into `.tools`, which needs
 * no root and changes nothing on the machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { debianPackages, TOOLS } from "./debian-packages.ts";

/**
 * A program and the package that holds it; `readsShare` when it opens files that its package has below /usr/share,
 * `versionWord` when it does not know `--version`, `folder` when what its package has in `bin` is a script that starts
 * it, `needsOthers` when it tells its version and yet does not work without the packages it depends on.
 */
export type DebianTool = {
  program: string;
  packageName: string;
  readsShare?: boolean;
  versionWord?: string;
  folder?: string;
  needsOthers?: boolean;
};

const found = new Map<string, string | null>();

/** The path of the program, once it has told its version; null where there is none and none can be had. */
export function findDebianTool(tool: DebianTool): string | null {
  const known = found.get(tool.program);
  if (known !== undefined) return known;
  const places = [
    () => tool.program,
    () => (tool.needsOthers ? null : unpacked(tool, "alone")),
    () => unpacked(tool, "with dependencies"),
  ];
  const path = places.find((place) => runs(place(), tool))?.() ?? null;
  found.set(tool.program, path);
  return path;
}

/** Whether the program can be started by its name alone, from now on also by what this process starts. */
export function putOnPath(tool: DebianTool): boolean {
  const path = findDebianTool(tool);
  if (path === null || path === tool.program) return path !== null;
  const folder = join(TOOLS, "debian/on-path");
  mkdirSync(folder, { recursive: true });
  if (put(join(folder, tool.program), `#!/bin/sh\nexec ${quoted(path)} "$@"\n`) === null) return false;
  if (!process.env.PATH?.split(":").includes(folder)) process.env.PATH = `${process.env.PATH}:${folder}`;
  return true;
}

function runs(path: string | null, { versionWord = "--version" }: DebianTool): boolean {
  return path !== null && spawnSync(path, [versionWord]).status === 0;
}

/** The starter of the program, beside its package and, if wanted, the packages it needs and this machine lacks. */
function unpacked(tool: DebianTool, extent: "alone" | "with dependencies"): string | null {
  const { packageName } = tool;
  const root =
    extent === "alone"
      ? debianPackages(`debian/${packageName}`, () => [packageName])
      : debianPackages(`debian/${packageName}-with-dependencies`, () => withDependencies(packageName));
  return root === null ? null : starterIn(root, tool);
}

function withDependencies(packageName: string): string[] {
  const { stdout } = spawnSync(
    "apt-get",
    ["-s", "-o", "Debug::NoLocking=1", "install", "--no-install-recommends", packageName],
    { encoding: "utf8" },
  );
  return [...(stdout ?? "").matchAll(/^Inst (\S+)/gm)].map(([, name]) => name as string);
}

/** A program outside of its place has to be told where its libraries are, and where its data is. */
function starterIn(root: string, { program, readsShare = false, folder }: DebianTool): string | null {
  const folders = folder === undefined ? ["usr/bin", "usr/sbin", "bin", "sbin"] : [folder];
  const places = folders.map((place) => join(root, place, program));
  const path = places.find((place) => existsSync(place));
  if (path === undefined) return null;
  const start = `exec ${quoted(path)} "$@"`;
  const libraries = ["usr/lib", "lib"].flatMap((place) => librariesIn(join(root, place))).join(":");
  const lines = [
    "#!/bin/sh",
    ...(libraries === "" ? [] : [`export LD_LIBRARY_PATH=${quoted(libraries)}`]),
    readsShare ? withShare(root, program, start) : start,
    "",
  ];
  return put(`${path}.start`, lines.join("\n"));
}

/** By rename, so that another test process never starts half of it; where another account put it there, as it is. */
function put(starter: string, text: string): string | null {
  try {
    writeFileSync(`${starter}.${process.pid}`, text, { mode: 0o755 });
    renameSync(`${starter}.${process.pid}`, starter);
  } catch {
    if (!existsSync(starter)) return null;
  }
  return starter;
}

/** Lays the package's /usr/share over the machine's, for this program alone. */
function withShare(root: string, program: string, start: string): string {
  const layers = quoted(`lowerdir=${join(root, "usr/share")}:/usr/share`);
  const inItsPlace = `mount -t overlay overlay -o ${layers} /usr/share && ${start}`;
  const account = process.geteuid?.() === 0 ? "" : "--map-root-user ";
  return `exec unshare ${account}--mount sh -c ${quoted(inItsPlace)} ${program} "$@"`;
}

function librariesIn(place: string): string[] {
  if (!existsSync(place)) return [];
  const folders = readdirSync(place).filter((name) => name.endsWith("-linux-gnu"));
  // Below it are libraries that are one package's own.
  const own = folders
    .flatMap((name) => [join(name, "systemd"), join(name, "pulseaudio")])
    .filter((name) => existsSync(join(place, name)));
  return [...folders, ...own].map((name) => join(place, name));
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
