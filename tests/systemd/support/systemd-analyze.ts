import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { findDebianTool } from "../../support/debian-tool.ts";

/** The first systemd whose `security` judges a file instead of a running service. */
const FIRST_OFFLINE_VERSION = 250;

/** How a run of it ended, and everything it printed. */
export type Analyzed = { status: number | null; output: string };

/** It makes files in /run/systemd, which an account may not and which must not stay: it gets a /run of its own. */
const OWN_RUN = 'mount -t tmpfs tmpfs /run && exec "$@"';
const WAYS = [
  ["unshare", "--mount", "sh", "-c", OWN_RUN, "sh"],
  ["unshare", "--map-root-user", "--mount", "sh", "-c", OWN_RUN, "sh"],
  ["env"],
];

/**
 * Runs systemd-analyze, the installed one or out of its package; null where there is none of this age that can judge a
 * unit here, and none can be had. `folder` is where it may keep what it needs.
 */
export function findAnalyze(folder: string): ((...words: string[]) => Analyzed) | null {
  const path = findDebianTool({ program: "systemd-analyze", packageName: "systemd" });
  if (path === null) return null;
  const env = { ...process.env, SYSTEMD_COLORS: "0", ...unitPath(path, folder) };
  const run = ([program, ...way]: string[], words: string[]) => {
    const { status, stdout, stderr } = spawnSync(program!, [...way, path, ...words], {
      encoding: "utf8",
      env,
    });
    return { status, output: `${stdout}${stderr}` };
  };
  const version = Number(/^systemd (\d+)/.exec(run(["env"], ["--version"]).output)?.[1]);
  if (!(version >= FIRST_OFFLINE_VERSION)) return null;
  const plain = join(folder, "plain.service");
  writeFileSync(plain, "[Service]\nExecStart=/bin/sh\n");
  const way = WAYS.find((words) => run(words, ["verify", "--man=no", plain]).status === 0);
  return way === undefined ? null : (...words) => run(way, words);
}

/** Whether units can be judged here. */
export function canAnalyze(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-analyze-"));
  try {
    return findAnalyze(folder) !== null;
  } finally {
    rmSync(folder, { recursive: true });
  }
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
