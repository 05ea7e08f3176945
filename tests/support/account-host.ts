/** This machine with an account `opsctl`, and nothing of it changed: a mount namespace with accounts of its own. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { opsctlBinary } from "./binary.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** The account's numbers. */
export const ACCOUNT = { uid: 64001, gid: 64001, extraGid: 64002 };

/** A folder that everybody may enter, with the accounts in it, and where the clone appears in the namespace. */
export type AccountHost = {
  folder: string;
  path(...parts: string[]): string;
  /** Where the clone is there. */
  clone: string;
  /** Writes a file below the folder. */
  put(name: string, text: string, mode?: number, uid?: number): string;
  /** A directory below the folder. */
  make(name: string, mode?: number, uid?: number): string;
  /** The words that run `command` there as root; `before` is what root's shell does first. */
  inside(command: readonly string[], before?: string): string[];
  /** The words that start opsctl. */
  opsctl(runtime: "binary" | "bun", args: readonly string[]): Promise<string[]>;
  [Symbol.dispose](): void;
};

/** Makes the machine; without `account` it is one on which opsctl was never installed. */
export function openAccountHost({ account = true } = {}): AccountHost {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-account-"));
  chmodSync(folder, 0o755);
  const path = (...parts: string[]) => join(folder, ...parts);
  for (const name of ["passwd", "group"]) {
    const lines = readFileSync(`/etc/${name}`, "utf8")
      .split("\n")
      .filter((line) => !/^opsctl/.test(line));
    writeFileSync(path(name), [...(account ? LINES[name]! : []), ...lines].join("\n"));
  }
  const clone = join(process.env.OPSCTL_TEST_RUN ?? folder, "clone");
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

async function commandOf(runtime: "binary" | "bun", clone: string): Promise<string[]> {
  await opsctlBinary();
  if (runtime === "binary") return [join(clone, "dist/opsctl")];
  return [process.execPath.replace(root, clone), join(clone, "cli/main.ts")];
}

function owned(path: string, mode: number, uid: number): string {
  chmodSync(path, mode);
  spawnSync("chown", [`${uid}:${uid}`, path]);
  return path;
}
