/** A clone of what `make install` needs, with a stand-in for the binary, so that no test builds or touches the host. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");

/** Says how it was called and what it was given. */
export const STAND_IN = '#!/bin/sh\necho log-line >&2\necho "called with: $*"\nenv | sort\n';

/** What `make man` makes, with one command in the place of all. */
export const MADE = [
  ...["man/opsctl.1", "man/opsctl-weekly.1"],
  ...["completions/opsctl.bash", "completions/_opsctl", "completions/opsctl.fish"],
].map((path) => `dist/${path}`);

/** A folder with the clone in `clone` and an empty place to install to. */
export type Clone = { folder: string; clone: string; destdir: string };

/** How a program that was run ended. */
export type Ran = { status: number | null; stdout: string; stderr: string };

/** Makes the clone; the caller removes `folder`. */
export function makeClone(): Clone {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-install-"));
  chmodSync(folder, 0o755);
  const clone = join(folder, "clone");
  for (const name of ["cli", "lib", "sql", ".ci", "dist"]) mkdirSync(join(clone, name), { recursive: true });
  cpSync(join(root, "Makefile"), join(clone, "Makefile"));
  cpSync(join(root, "systemd"), join(clone, "systemd"), { recursive: true });
  for (const name of ["package.json", "bun.lock", "cli/main.ts"]) writeFileSync(join(clone, name), "{}\n");
  writeFileSync(join(clone, "dist/opsctl"), STAND_IN, { mode: 0o755 });
  for (const path of MADE) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), `${path}\n`);
  }
  return { folder, clone, destdir: join(folder, "dest") };
}

/** Takes a clone away. */
export function removeClone({ folder }: Clone): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs make in the clone; the variables as words, as an operator writes them. */
export function make(
  { clone, folder }: Clone,
  words: string[],
  { umask = "022", account }: { umask?: string; account?: number } = {},
): Ran {
  // A make that runs these tests must not hand its own flags and settings to this one.
  const {
    MAKEFLAGS: _f,
    MFLAGS: _m,
    MAKELEVEL: _l,
    DESTDIR: _d,
    PREFIX: _p,
    SYSCONFDIR: _s,
    ...env
  } = process.env;
  return run("sh", ["-c", `umask ${umask}; exec make "$@"`, "make", ...words], {
    cwd: clone,
    // Another account may not be let into the temporary directory of this one.
    ...(account === undefined ? { env } : { env: { ...env, TMPDIR: folder }, uid: account, gid: account }),
  });
}

/** Runs a program to its end. */
export function run(program: string, words: string[], options: object = {}): Ran {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8", ...options });
  return { status, stdout, stderr };
}

/** Everything below a folder: path to `mode`, and `d` before the mode of a directory. */
export function treeOf(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true }).map(String).sort();
  return Object.fromEntries(
    paths.map((path) => {
      const stats = lstatSync(join(folder, path));
      return [path, `${stats.isDirectory() ? "d" : ""}${(stats.mode & 0o7777).toString(8)}`];
    }),
  );
}

/** The files below a folder with content and modification time, to see whether anything was written. */
export function stateOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(treeOf(folder)).map(([path, mode]) => {
      const { mtimeNs, ino } = lstatSync(join(folder, path), { bigint: true });
      return [
        path,
        mode.startsWith("d") ? mode : `${mode} ${ino} ${mtimeNs} ${readFileSync(join(folder, path))}`,
      ];
    }),
  );
}
