import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { findDebianTool } from "../debian-tool.ts";

/** The first systemd whose `security` judges a file instead of a running service. */
const FIRST_OFFLINE_VERSION = 250;

/** How a run of it ended, and everything it printed. */
export type Analyzed = { status: number | null; output: string };

/**
 * Runs systemd-analyze, the installed one or out of its package; null where there is none of this age and none can be
 * had. `folder` is where it may keep what it needs.
 */
export function findAnalyze(folder: string): ((...words: string[]) => Analyzed) | null {
  const path = findDebianTool({ program: "systemd-analyze", packageName: "systemd" });
  if (path === null) return null;
  const env = { ...process.env, SYSTEMD_COLORS: "0", ...unitPath(path, folder) };
  const analyze = (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(path, words, { encoding: "utf8", env });
    return { status, output: `${stdout}${stderr}` };
  };
  const version = Number(/^systemd (\d+)/.exec(analyze("--version").output)?.[1]);
  return version >= FIRST_OFFLINE_VERSION ? analyze : null;
}

/** A machine without systemd lacks the units that others refer to: those of the package, without its many aliases. */
function unitPath(path: string, folder: string): Record<string, string> {
  const root = join(dirname(path), "../..");
  const places = ["lib", "usr/lib"].map((name) => join(root, name, "systemd/system"));
  const from = path.includes("/") ? places.find((place) => existsSync(place)) : undefined;
  if (from === undefined) return {};
  const to = join(folder, "units");
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true }))
    if (entry.isFile()) copyFileSync(join(from, entry.name), join(to, entry.name));
  return { SYSTEMD_UNIT_PATH: to };
}
