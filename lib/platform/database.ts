import postgres from "postgres";
import { databaseError } from "./database-error.ts";
import { connectDatabase } from "./database-socket.ts";
import { type DatabaseAddress, parseDatabaseUrl } from "./database-url.ts";
import { OpsError } from "./errors.ts";
import type { Secret } from "./secret.ts";

export { classifyDatabaseError, databaseError } from "./database-error.ts";

/** An open pool of connections. */
export type Database = {
  /** The driver's tagged template: values are always parameters, dates and timestamps arrive as text. */
  sql: postgres.Sql;
  /** Whether statements are prepared, which is so unless a pooler stands between. */
  prepares: boolean;
  /** Lets running statements finish for at most five seconds, then closes every connection. */
  close(): Promise<void>;
};

const CONNECT_LIMIT_MS = 10_000;
const CLOSE_LIMIT_SECONDS = 5;

/**
 * Connects to the database and finds out whether it may prepare statements there.
 *
 * Shape:  a session pooler or transaction pooler announces another process id than the backend's: then nothing is
 *         prepared, since a prepared statement is session state and the next transaction may have another session.
 *         Otherwise statements are prepared, which halves the round trips. No other session state exists.
 *         Values of date and time types stay text as the server writes it, so that neither the process's zone nor
 *         milliseconds touch them; write them in SQL as the text that is needed. `int8` and `numeric` are text too.
 *         Array types are not looked up (it costs a query a connection): pass and return lists as `jsonb`.
 * Errors: CONFIG_INVALID for a URL that cannot be used, DATABASE_UNREACHABLE, DATABASE_AUTH_FAILED,
 *         DATABASE_NOT_FOUND; at most 20 seconds after the call, half of them for the network.
 */
export async function openDatabase(
  url: Secret,
  options: { max: number; applicationName: string; connectLimitMs?: number },
): Promise<Database> {
  const address = addressOf(url);
  const direct = makePool(address, options, true);
  let isDirect: boolean;
  try {
    isDirect = await announcesItsBackend(direct);
  } catch (error) {
    await direct.end({ timeout: 0 });
    throw databaseError(error, "connect to the database", { isOpening: true });
  }
  if (isDirect) return database(direct, true);
  await direct.end({ timeout: CLOSE_LIMIT_SECONDS });
  return database(makePool(address, options, false), false);
}

function database(sql: postgres.Sql, prepares: boolean): Database {
  return { sql, prepares, close: () => sql.end({ timeout: CLOSE_LIMIT_SECONDS }) };
}

/** The text goes by the simple protocol, which leaves nothing behind in a pooler's session. */
async function announcesItsBackend(sql: postgres.Sql): Promise<boolean> {
  const result = await sql.unsafe<{ pid: number }[]>("select pg_backend_pid() as pid");
  return result.state.pid === result[0]?.pid;
}

function makePool(
  address: DatabaseAddress,
  options: { max: number; applicationName: string; connectLimitMs?: number },
  prepare: boolean,
): postgres.Sql {
  const limitMs = options.connectLimitMs ?? CONNECT_LIMIT_MS;
  const settings = {
    host: [address.host],
    port: [address.port],
    ...(address.user === undefined ? {} : { user: address.user }),
    ...(address.database === undefined ? {} : { database: address.database }),
    // A function, because an empty text would make the driver read PGPASSWORD, a secret that nobody registered.
    password: () => address.password,
    // Everything that the driver would otherwise read from PG* variables is said here.
    max: options.max,
    ssl: false,
    sslnegotiation: null,
    prepare,
    debug: false,
    publications: "",
    connect_timeout: limitMs / 1000,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    max_pipeline: 100,
    backoff: true,
    keep_alive: 30,
    fetch_types: false,
    connection: { ...address.startup, application_name: options.applicationName },
    types: { date: DATE_AS_TEXT },
    onnotice: () => {},
    socket: () => connectDatabase(address, limitMs),
  };
  // Its type names neither `socket` nor lists of one host, both of which the driver documents or reads.
  return postgres(settings as unknown as postgres.Options<Record<string, never>>) as unknown as postgres.Sql;
}

const DATE_AS_TEXT = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: unknown) => (value instanceof Date ? value.toISOString() : String(value)),
  parse: (text: string) => text,
};

function addressOf(url: Secret): DatabaseAddress {
  const address = parseDatabaseUrl(url.open());
  if (typeof address !== "string") return address;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: `Cannot connect to the database: DATABASE_URL ${address}`,
    hint: "Expected postgres://user:password@host:5432/database with special characters percent-encoded",
  });
}
