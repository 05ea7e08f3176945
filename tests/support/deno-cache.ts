/** Where Deno keeps what it has made of the sources: a start without it costs twice the time. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { atEnd } from "./at-end.ts";
import { denoBinary } from "./deno-binary.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const NAME = "deno-cache";

let own: string | undefined;

/** The folder (DENO_DIR) of this run of the tests or of this process, with all of opsctl and open to every account. */
export function denoCache(): string {
  const run = process.env.OPSCTL_TEST_RUN;
  if (run !== undefined && existsSync(join(run, NAME))) return join(run, NAME);
  own ??= ownCache();
  return own;
}

/** Makes the folder of a run of the tests. */
export function prepareDenoCache(run: string): void {
  const folder = mkdtempSync(join(run, "opsctl-deno-"));
  fillDenoCache(folder);
  renameSync(folder, join(run, NAME));
}

function ownCache(): string {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-deno-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  fillDenoCache(folder);
  return folder;
}

/**
 * Has Deno read all sources of opsctl, which it knows by the path of `clone`; `inside` gives the words that run others
 * there.
 *
 * Behaviour: the folder is opened to everybody: the account that root becomes starts Deno with it, too, and Deno makes
 *            no use of what it may not write to.
 */
export function fillDenoCache(folder: string, clone = root, inside = (words: string[]) => words): void {
  const env = { PATH: process.env.PATH, HOME: folder, DENO_DIR: folder, DENO_NO_UPDATE_CHECK: "1" };
  for (const args of [
    ["cache", "--quiet", "--no-lock", join(clone, "cli/main.ts")],
    ["run", "-A", "--no-lock", join(clone, "cli/main.ts"), "--version"],
  ]) {
    const [program, ...words] = inside([denoBinary().replace(root, clone), ...args]);
    spawnSync(program!, words, { cwd: "/", env, stdio: "ignore" });
  }
  spawnSync("chmod", ["-R", "a+rwX", folder]);
}
