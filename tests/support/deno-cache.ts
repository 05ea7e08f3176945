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

/** Has Deno read all sources of opsctl once; the folder is opened to everybody. */
function fillDenoCache(folder: string): void {
  const env = { PATH: process.env.PATH, HOME: folder, DENO_DIR: folder, DENO_NO_UPDATE_CHECK: "1" };
  const main = join(root, "cli/main.ts");
  for (const words of [
    ["cache", "--quiet", "--no-lock", main],
    ["run", "-A", "--no-lock", main, "--version"],
  ])
    spawnSync(denoBinary(), words, { cwd: "/", env, stdio: "ignore" });
  spawnSync("chmod", ["-R", "a+rwX", folder]);
}
