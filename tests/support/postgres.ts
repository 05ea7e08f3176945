/**
 * A real PostgreSQL for tests, demo and benchmark, from the npm package's own binaries.
 *
 * PostgreSQL refuses to run as root: then it runs as `nobody`, and its files go where that user reaches them.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Writable } from "node:stream";
import postgres from "postgres";
import { applyMigrations } from "../../lib/migrate/run.ts";
import { freePort } from "./free-port.ts";
import { AS_SERVER, copyData, initialise, memoryFolder, openToServer, programs } from "./postgres-files.ts";

/** The password of every login of a test server: a value to search outputs for. */
export const PASSWORD = "canary-database-password";
const TEMPLATE = "opsctl_template";

/** One running PostgreSQL server on loopback. */
export type PostgresServer = {
  port: number;
  /** Connection URL of a database, as the superuser unless another login is named. */
  url(database: string, user?: string): string;
  /**
   * A new database with the application's tables and, unless `migrated` is false, opsctl's; the test itself has at most
   * so many `connections` to it, of which each costs as much as a short run.
   */
  createDatabase(options?: {
    migrated?: boolean;
    appSchema?: boolean;
    connections?: number;
  }): Promise<TestDatabase>;
  /** Where its data are. */
  dataDir: string;
  /** Stops the server and keeps its data; `immediate` is a crash. */
  halt(mode: "fast" | "immediate"): Promise<void>;
  /** Starts the server that was halted, on the same port. */
  resume(): Promise<void>;
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
const APP_SCHEMA = readFileSync(join(import.meta.dirname, "../fixtures/app-schema.sql"), "utf8");

/** What a hosted platform sets up before anything else: new objects are granted to everybody. */
export const HOSTED_DEFAULT_PRIVILEGES = `
  alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
  alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
  alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;`;

/**
 * Stops the server and removes its folders once the process that started it closes the pipe, or is gone, killed or not.
 * It is there before the folders have anything in them, and gets the server's id later: the last line that it has read,
 * empty while the server is halted. The copying of a process that was killed may go on for a moment.
 */
const GUARDIAN = `while read -r line; do server="$line"; done
left=200
[ -z "$server" ] || kill -INT "$server"
while [ -n "$server" ] && kill -0 "$server" && [ $((left -= 1)) -gt 0 ]; do sleep 0.05; done
until rm -rf "$@" || [ $((left -= 1)) -lt 0 ]; do sleep 0.05; done`;

/**
 * What a server is started with; `inMemory` is for data that need not last, and of which there is not too much.
 *
 * Shape: with `standbyOf` it is a hot standby of that server, which is halted for a moment to be copied.
 */
export type PostgresOptions = {
  major?: number;
  settings?: Record<string, string>;
  inMemory?: boolean;
  standbyOf?: PostgresServer;
};

/** Starts a server on a free loopback port; `settings` are added to its command line. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const home = newFolder(tmpdir());
  const parent = options.inMemory ? newFolder(memoryFolder()) : home;
  const guardian = startGuardian([home, parent]);
  const prepared = options.inMemory ? preparedFolder(options.major) : undefined;
  const native = programs(prepared ?? home, options.major);
  const data = join(parent, "data");
  if (options.standbyOf !== undefined) await follow(options.standbyOf, data);
  else if (prepared === undefined) initialise(data, native, home, PASSWORD);
  else copyData(join(prepared, "data"), data);
  const inMemory = options.inMemory ? { ...IN_MEMORY, ...quickLogins(options.major) } : {};
  const settings = { ...inMemory, ...options.settings };
  return serverOn(await launch({ home, native, data, guardian }, settings), prepared !== undefined);
}

/** What is dropped is looked for in all buffers each time, and what they do not hold is in memory, too. */
const IN_MEMORY = { max_wal_size: "128MB", shared_buffers: "16MB" };

/** A password set from now on is proved by one step instead of 4,096; PostgreSQL 15 does not know the setting. */
function quickLogins(major?: number): Record<string, string> {
  return major === 15 ? {} : { scram_iterations: "1" };
}

/** Makes the data of a hot standby. */
async function follow(primary: PostgresServer, data: string): Promise<void> {
  await primary.halt("fast");
  copyData(primary.dataDir, data);
  writeFileSync(join(data, "standby.signal"), "");
  const from = `host=127.0.0.1 port=${primary.port} user=postgres password=${PASSWORD}`;
  writeFileSync(join(data, "postgresql.auto.conf"), `primary_conninfo = '${from}'\n`);
  await primary.resume();
}

/** Makes what the servers of one run of the tests begin with: programs, and data with the template database. */
export async function preparePostgres(run: string, major?: number): Promise<void> {
  const home = newFolder(run);
  const native = programs(home, major);
  const data = join(home, "data");
  initialise(data, native, home, PASSWORD);
  const files = { home, native, data, guardian: startGuardian([]) };
  const server = serverOn(await launch(files, quickLogins(major)), false);
  const database = await server.createDatabase();
  // Again, now that it costs less to use.
  await database.sql.unsafe(`alter role postgres password '${PASSWORD}'`);
  await database.drop();
  await server.stop();
  renameSync(home, join(run, preparedName(major)));
}

/** What `preparePostgres` made for the run of the tests that this process belongs to. */
function preparedFolder(major?: number): string | undefined {
  const run = process.env.OPSCTL_TEST_RUN;
  const folder = run && join(run, preparedName(major));
  return folder && existsSync(folder) ? folder : undefined;
}

function preparedName(major?: number): string {
  return `postgres-${major ?? "newest"}`;
}

function newFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, "opsctl-pg-"));
  openToServer(folder);
  return folder;
}

function startGuardian(folders: string[]): Guardian {
  return spawn("sh", ["-c", GUARDIAN, "sh", ...new Set(folders)], {
    cwd: "/",
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
}

type Guardian = ChildProcessByStdio<Writable, null, null>;
/** A server that listens, and the process that stops it. */
type Launched = { port: number; guardian: Guardian } & Pick<PostgresServer, "dataDir" | "halt" | "resume">;
/** Where a server finds its files, and the process that removes them. */
type Files = { home: string; native: string; data: string; guardian: Guardian };

async function launch(
  { home, native, data, guardian }: Files,
  more: Record<string, string>,
): Promise<Launched> {
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "300",
    fsync: "off",
    full_page_writes: "off",
    log_min_messages: "panic",
    ...more,
  };
  let child: ChildProcess;
  const resume = async () => {
    child = spawn(
      join(native, "bin/postgres"),
      ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      // Apart from our process group: an interrupt at the terminal must let the caller finish with its database.
      { ...AS_SERVER, cwd: home, stdio: "ignore", detached: true },
    );
    guardian.stdin.write(`${child.pid}\n`);
    await reachable(urlAt(port, "postgres"), child);
  };
  const halt = async (mode: "fast" | "immediate") => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(mode === "fast" ? "SIGINT" : "SIGQUIT");
    await ended;
    guardian.stdin.write("\n");
  };
  try {
    await resume();
  } catch (error) {
    guardian.stdin.end();
    throw error;
  }
  return { port, guardian, dataDir: data, halt, resume };
}

function urlAt(port: number, database: string, user = "postgres"): string {
  return `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`;
}

function serverOn({ port, guardian, ...control }: Launched, hasTemplate: boolean): PostgresServer {
  const url = (database: string, user?: string) => urlAt(port, database, user);
  const admin = postgres(url("postgres"), { max: 2, onnotice: () => {} });
  let template: Promise<void> | undefined;
  return {
    ...control,
    port,
    url,
    async createDatabase({ migrated = true, appSchema = true, connections = 10 } = {}) {
      const name = `test_${randomBytes(6).toString("hex")}`;
      if (migrated) {
        template ??= hasTemplate ? warmTemplate(url) : makeTemplate(admin, url);
        await template;
      }
      await copyDatabase(admin, migrated ? TEMPLATE : "template0", name);
      const sql = poolLike(admin, url(name), connections);
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
    },
    async stop() {
      await admin.end({ timeout: 1 });
      const ended = new Promise((resolve) => guardian.once("exit", resolve));
      guardian.stdin.end();
      await ended;
    },
  };
}

/** A pool that does not ask for the array types, a third of a connection's cost: no test that opens one needs them. */
export function connect(url: string, connections = 1): postgres.Sql {
  return postgres(url, { max: connections, fetch_types: false, onnotice: () => {} });
}

/**
 * A pool that knows the array types, which are the same in every database, from one that has asked for them: the
 * driver's question costs a third of a connection, and when a pool ends meanwhile, nothing catches its failure.
 */
function poolLike(known: postgres.Sql, url: string, connections: number): postgres.Sql {
  const sql = connect(url, connections);
  const [from, to] = [known, sql].map(({ options }) => options as unknown as TypesOfPool);
  for (const part of ["parsers", "serializers"] as const) Object.assign(to![part], from![part]);
  Object.assign(to!.shared.typeArrayMap, from!.shared.typeArrayMap);
  return sql;
}

/** Where the driver keeps what it knows of types. */
type TypesOfPool = { parsers: object; serializers: object; shared: { typeArrayMap: object } };

/** The other strategy writes each page to the log as well. */
async function copyDatabase(admin: postgres.Sql, from: string, to: string): Promise<void> {
  await admin.unsafe(`create database ${to} template ${from} strategy file_copy`);
}

/**
 * Has the server write down what each session reads first of the template's catalogs: a copy has that file, too, and its
 * first session costs a third less than one that has to make it. A server removes it when it starts.
 */
async function warmTemplate(url: (database: string) => string): Promise<void> {
  const sql = connect(url(TEMPLATE));
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function makeTemplate(admin: postgres.Sql, url: (database: string) => string): Promise<void> {
  await copyDatabase(admin, "template0", TEMPLATE);
  const sql = connect(url(TEMPLATE));
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
    const sql = postgres(url, { max: 1, connect_timeout: 5, fetch_types: false, onnotice: () => {} });
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
    server = startPostgres({ inMemory: true, ...(major === undefined ? {} : { major }) });
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
