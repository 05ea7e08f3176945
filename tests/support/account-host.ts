/** This machine with an account `opsctl`, and nothing of it changed: a mount namespace with accounts of its own. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { RuntimeName } from "../e2e/support/opsctl.ts";
import { opsctlBinary } from "./binary.ts";
import { denoCache, fillDenoCache } from "./deno-cache.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** The account's numbers. */
export const ACCOUNT = { uid: 64001, gid: 64001, extraGid: 64002 };

/** Whether such a machine can be had here; the name of a test says when not. */
export const canHaveAccount =
  process.geteuid?.() === 0 &&
  spawnSync("unshare", ["-m", "sh", "-c", "mount --bind /etc/hosts /etc/passwd"]).status === 0;

/** What stands behind the name of a test that cannot be tried here. */
export const UNTRIED = canHaveAccount ? "" : " (not tried here: needs root and a mount namespace)";

/** A folder that everybody may enter, with the accounts in it, and where the clone appears in the namespace. */
export type AccountHost = {
  folder: string;
  path(...parts: string[]): string;
  /** Where the clone is there: the same place for all files of a run, so that Deno reads the sources once. */
  clone: string;
  /** Writes a file below the folder. */
  put(name: string, text: string, mode?: number, uid?: number): string;
  /** A directory below the folder. */
  make(name: string, mode?: number, uid?: number): string;
  /** The words that run `command` there as root; `before` is what root's shell does first. */
  inside(command: readonly string[], before?: string): string[];
  /** Has Deno read the clone's sources there once, for a file that starts it often. */
  warmDeno(): void;
  /** The words that start opsctl. */
  opsctl(runtime: RuntimeName, args: readonly string[]): Promise<string[]>;
  [Symbol.dispose](): void;
};

/** How the machine is made; `ownClone` is for a test that closes the folder of the clone. */
export type AccountHostOptions = { account?: boolean; ownClone?: boolean };

/** Makes the machine; without `account` it is one on which opsctl was never installed. */
export function openAccountHost({ account = true, ownClone = false }: AccountHostOptions = {}): AccountHost {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-account-"));
  chmodSync(folder, 0o755);
  const path = (...parts: string[]) => join(folder, ...parts);
  for (const name of ["passwd", "group"]) {
    const lines = readFileSync(`/etc/${name}`, "utf8")
      .split("\n")
      .filter((line) => !/^opsctl/.test(line));
    writeFileSync(path(name), [...(account ? LINES[name]! : []), ...lines].join("\n"));
  }
  const ofRun = ownClone ? undefined : process.env.OPSCTL_TEST_RUN;
  const clone = join(ofRun ?? folder, "clone");
  mkdirSync(clone, { recursive: true });
  return {
    folder,
    path,
    put(name, text, mode = 0o600, uid = 0) {
      writeFileSync(path(name), text);
      return owned(path(name), mode, uid);
    },
    make(name, mode = 0o755, uid = 0) {
      mkdirSync(path(name), { recursive: true });
      return owned(path(name), mode, uid);
    },
    clone,
    inside: (command, before = ":") => [
      ...["unshare", "-m", "sh", "-c", `${mountsOn(clone)}\n${before}\nexec "$@"`, folder, ...command],
    ],
    warmDeno() {
      const isWarm = join(denoCache(), "knows-clone-of-hosts");
      if (existsSync(isWarm)) return;
      fillDenoCache(denoCache(), clone, (words) => this.inside(words));
      writeFileSync(isWarm, "");
    },
    async opsctl(runtime, args) {
      return [...(await commandOf(runtime, clone)), ...args];
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const LINES: Record<string, string[]> = {
  passwd: [`opsctl:x:${ACCOUNT.uid}:${ACCOUNT.gid}::/var/lib/opsctl:/usr/sbin/nologin`],
  group: [`opsctl:x:${ACCOUNT.gid}:`, `opsctl-extra:x:${ACCOUNT.extraGid}:opsctl`],
};

/** The clone may lie where the account cannot go; seen from the folder it can. */
const mountsOn = (clone: string) => `set -e
for name in passwd group; do mount --bind "$0/$name" "/etc/$name"; done
mount --bind ${JSON.stringify(root)} ${JSON.stringify(clone)}`;

async function commandOf(runtime: RuntimeName, clone: string): Promise<string[]> {
  await opsctlBinary();
  if (runtime === "binary") return [join(clone, "dist/opsctl")];
  if (runtime === "bun") return [process.execPath.replace(root, clone), join(clone, "cli/main.ts")];
  return [join(clone, "node_modules/deno/deno"), "run", "-A", join(clone, "cli/main.ts")];
}

function owned(path: string, mode: number, uid: number): string {
  chmodSync(path, mode);
  spawnSync("chown", [`${uid}:${uid}`, path]);
  return path;
}
