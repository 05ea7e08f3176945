/**
 * promtool, the metrics platform's own checker: the one on PATH, else taken out of Debian's package `prometheus`
 * into `.tools`, which needs no root and changes nothing on the machine.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "../.tools");
const UNPACKED = join(TOOLS, "promtool");

let found: string | null | undefined;

/** The path of a promtool that runs, or null where there is none and none can be had. */
export function findPromtool(): string | null {
  if (found === undefined) found = firstRunning([() => "promtool", () => UNPACKED, unpack]);
  return found;
}

/** Runs promtool; its status and everything it printed. */
export function runPromtool(tool: string, args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(tool, args, { encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

function firstRunning(places: (() => string | null)[]): string | null {
  for (const place of places) {
    const path = place();
    if (runs(path)) return path;
  }
  return null;
}

function runs(path: string | null): path is string {
  return path !== null && spawnSync(path, ["--version"]).status === 0;
}

function unpack(): string | null {
  mkdirSync(TOOLS, { recursive: true });
  const folder = mkdtempSync(join(TOOLS, "promtool-"));
  try {
    const download = () => spawnSync("apt-get", ["download", "prometheus"], { cwd: folder }).status === 0;
    // A fresh machine has no lists of packages yet; only root may fetch them.
    if (!download() && (spawnSync("apt-get", ["update"]).status !== 0 || !download())) return null;
    const archive = readdirSync(folder).find((name) => name.endsWith(".deb"));
    if (archive === undefined) return null;
    spawnSync("dpkg-deb", ["-x", archive, "all"], { cwd: folder });
    const inside = join(folder, "all/usr/bin/promtool");
    // By rename, so that another test process never starts half a file.
    if (existsSync(inside)) renameSync(inside, UNPACKED);
    return UNPACKED;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
