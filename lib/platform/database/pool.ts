import { setTimeout as delay } from "node:timers/promises";
import type postgres from "postgres";
import { OpsError } from "../errors.ts";
import type { Secret } from "../secrets/secret.ts";
import { classifyDatabaseError, databaseCode, databaseError, isServerAway } from "./error.ts";
import { Handout } from "./handout.ts";
import { inTurns } from "./in-turns.ts";
import { closedByServer, connectDatabase, DriverStream, type StreamWatch } from "./socket.ts";
import { type DatabaseAddress, parseDatabaseUrl } from "./url.ts";

export { classifyDatabaseError, databaseCode, databaseError } from "./error.ts";

/** An open pool of connections. */
export type Database = {
  /**
   * The driver's tagged template: values are always parameters, dates and timestamps arrive as text.
   *
   * Behaviour: each statement settles, whatever becomes of its connection: see `answerLimitMs`.
   */
  sql: postgres.Sql;
  /** Whether statements are prepared: not behind a pooler. */
  prepares: boolean;
  /** Lets further statements use new connections; those that are open finish what they have begun. */
  renew(): void;
  /** Lets running statements finish for at most three seconds, then closes every connection and fails what is left. */
  close(): Promise<void>;
};

const CONNECT_LIMIT_MS = 10_000;
const CLOSE_LIMIT_MS = 3_000;
const ANSWER_LIMIT_MS = 60_000;
/** Variables that no setting overrides, and those that the driver reads when the URL names no user or database. */
const VARIABLES_OF_THE_DRIVER = ["PGTARGETSESSIONATTRS", "PGUSERNAME", "PGUSER", "PGDATABASE"];

/**
 * Connects to the database and finds out whether it may prepare statements there.
 *
 * Behaviour: a pooler announces another process id than the backend's: then nothing is prepared, because a prepared
 *            statement is session state and the next transaction may have another session, and no statement is sent
 *            before the one before it on its connection is answered. Otherwise statements are prepared, which halves
 *            the round trips. There is no other session state. Values of date and time types
 *            stay text as the server writes it, so that neither the process's zone nor milliseconds change them; format
 *            them in SQL. `int8` and `numeric` are text too. Array types are not looked up (that costs a query for each
 *            connection): pass and return lists as `jsonb`.
 * Errors:    CONFIG_INVALID for a URL that cannot be used, DATABASE_UNREACHABLE (also for a certificate that is not
 *            accepted), DATABASE_AUTH_FAILED (also for a password asked for in clear text without TLS),
 *            DATABASE_NOT_FOUND; at most 30 seconds after the call, a third of them each for the network, the login and
 *            the first answer, and what `patience` adds.
 */
export async function openDatabase(url: Secret, options: PoolOptions): Promise<Database> {
  const pools = await Pools.open({ ...options, address: addressOf(url, options.setting) });
  try {
    const prepares = await patiently(() => announcesItsBackend(pools.current), options.patience);
    if (!prepares) await pools.replace({ prepare: false });
    pools.isOpened = true;
    return { sql: pools.sql, prepares, renew: () => pools.renew(), close: () => pools.close() };
  } catch (error) {
    await pools.close();
    throw databaseError(error, "connect to the database", { isOpening: true, setting: options.setting });
  }
}

const LOOK_EVERY_MS = 1_000;

async function patiently<T>(ask: () => Promise<T>, patience: OpeningPatience | undefined): Promise<T> {
  const begunMs = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      const limitMs = patienceWith(error, patience);
      const leftMs = limitMs - (performance.now() - begunMs);
      if (patience === undefined || leftMs <= 0 || patience.signal.aborted) throw error;
      if (tries === 1) patience.onWait(databaseCode(error), limitMs);
      await delay(Math.min(LOOK_EVERY_MS, leftMs), undefined, { signal: patience.signal }).catch(() => {});
    }
  }
}

/** How long such a failure is waited for; zero for one that no waiting mends. */
function patienceWith(error: unknown, patience: OpeningPatience | undefined): number {
  const { sqlState, transient } = classifyDatabaseError(error);
  if (sqlState !== undefined) return transient ? (patience?.limitMs ?? 0) : 0;
  return isServerAway(error) ? (patience?.unreachableLimitMs ?? 0) : 0;
}

type Driver = typeof postgres;

/**
 * How long to wait, while opening, for a server that is away for a moment.
 *
 * Shape: `limitMs` for one that says so itself (it starts, or has no connection left), `unreachableLimitMs` for one
 *        that refuses the connection, drops it or is silent. `onWait` is told once, with the code and the limit.
 */
export type OpeningPatience = {
  limitMs: number;
  unreachableLimitMs: number;
  signal: AbortSignal;
  onWait(code: string, limitMs: number): void;
};

/**
 * How a pool is made.
 *
 * Shape: `answerLimitMs` is how long a statement may wait for a connection, and then for its answer; one that has no
 *        answer breaks its connection. A transaction has no limit of its own: its begin and its end are statements, too.
 */
/** `setting` is the one that has the URL, DATABASE_URL where it is left out. */
type PoolOptions = {
  setting?: string | undefined;
  max: number;
  applicationName: string;
  connectLimitMs?: number;
  answerLimitMs?: number;
  closeLimitMs?: number;
  patience?: OpeningPatience;
};

/**
 * The driver's pool, replaced by a new one after each lost connection.
 *
 * Behaviour: the driver can use a connection whose loss it has not noticed yet, and then keeps half a message that
 *            spoils that connection's next starts, each for the whole connect limit. So the old pool finishes what it
 *            has begun and gets nothing new. Its idle connections close themselves. A connection that broke inside a
 *            transaction is lost to the driver, so that a pool may have none left.
 */
class Pools {
  readonly #driver: Driver;
  readonly #options: PoolOptions & { address: DatabaseAddress };
  /** With what each was used for. */
  readonly #streams = new Map<DriverStream, Handout>();
  /** The pools in which something may still be under way, each with what hands it out. */
  readonly #driven = new Map<Handout, postgres.Sql>();
  /** The connection that was begun while the driver was being loaded, until the pool takes it. */
  #early: ((watch: StreamWatch) => Promise<DriverStream>) | null;
  #prepare = true;
  #isClosed = false;
  /** Until then a statement has no more time than a connection. */
  isOpened = false;
  current: postgres.Sql;

  /** Connects and loads the driver at the same time. */
  static async open(options: PoolOptions & { address: DatabaseAddress }): Promise<Pools> {
    const watch: StreamWatch = { answerLimitMs: () => limitOf(options), onLoss: () => {} };
    const early = connectDatabase(options.address, { limitMs: limitOf(options), watch });
    // The runtime sends the first packet in its next turn.
    await new Promise((resolve) => setImmediate(resolve));
    const { default: driver } = await import("postgres");
    return new Pools(driver, options, async (own) => {
      Object.assign(watch, own);
      return await early;
    });
  }

  private constructor(
    driver: Driver,
    options: PoolOptions & { address: DatabaseAddress },
    early: (watch: StreamWatch) => Promise<DriverStream>,
  ) {
    this.#driver = driver;
    this.#options = options;
    this.#early = early;
    this.current = this.#open();
  }

  /** The current pool at the time of each use. */
  get sql(): postgres.Sql {
    return new Proxy(this.current, {
      apply: (_target, _this, args) => Reflect.apply(this.current, undefined, args),
      get: (_target, key) => Reflect.get(this.current, key),
    });
  }

  async replace({ prepare }: { prepare: boolean }): Promise<void> {
    const old = this.current;
    this.#prepare = prepare;
    this.current = this.#open();
    await this.#end(old);
  }

  renew(): void {
    this.#leave(this.current);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(this.current);
    // First the driver's own end: on a connection that it takes for open, the end of a transaction would be written to
    // nothing and end the process.
    await Promise.all([...this.#driven.values()].map((driven) => driven.end({ timeout: 0 })));
    for (const stream of this.#streams.keys()) stream.destroy();
    for (const handout of this.#driven.keys()) handout.failAll(closedByUs());
  }

  async #end(pool: postgres.Sql): Promise<void> {
    const { closeLimitMs = CLOSE_LIMIT_MS } = this.#options;
    await pool.end({ timeout: closeLimitMs / 1000 });
  }

  #open(): postgres.Sql {
    for (const name of VARIABLES_OF_THE_DRIVER) delete process.env[name];
    for (const handout of this.#driven.keys()) if (handout.isEmpty) this.#driven.delete(handout);
    this.#letStrandedGo();
    const { max } = this.#options;
    let stranded = 0;
    const watch: StreamWatch = {
      answerLimitMs: () => this.#answerLimitMs,
      onLoss: ({ isStranded }) => {
        this.#leave(pool);
        if (isStranded) stranded += 1;
        if (stranded === max) handout.failUnsent(closedByServer());
      },
    };
    const driven = this.#driver(
      driverSettings(this.#options, this.#prepare, () => this.#connect(watch, handout)),
    );
    const handout = new Handout(
      // While opening, a statement waits for network and login before it is sent: each has the same limit.
      () => (this.isOpened ? this.#answerLimitMs : 3 * this.#answerLimitMs),
      () => this.#leave(pool),
    );
    this.#driven.set(handout, driven);
    const pool = handout.of(this.#prepare ? driven : inTurns(driven, max));
    return pool;
  }

  get #answerLimitMs(): number {
    const { answerLimitMs = ANSWER_LIMIT_MS } = this.#options;
    return this.isOpened ? answerLimitMs : limitOf(this.#options);
  }

  async #connect(watch: StreamWatch, handout: Handout): Promise<DriverStream> {
    // What waits for its turn in a pool that was left would get it only now.
    if (this.#isClosed) return new DriverStream(closedByUs());
    const early = this.#early;
    this.#early = null;
    const limitMs = limitOf(this.#options);
    const stream = await (early?.(watch) ?? connectDatabase(this.#options.address, { limitMs, watch }));
    this.#streams.set(stream, handout);
    stream.once("close", () => this.#streams.delete(stream));
    return stream;
  }

  /** Closes what no transaction uses any more: the driver keeps such a connection, and all that it refers to. */
  #letStrandedGo(): void {
    // Later, because the driver may be about to write the end of the transaction.
    for (const [stream, handout] of this.#streams)
      if (stream.isStranded && handout.isEmpty) setImmediate(() => stream.destroy());
  }

  /** Gives nothing new to a pool that lost a connection. */
  #leave(pool: postgres.Sql): void {
    if (this.current === pool) this.current = this.#open();
  }
}

function limitOf({ connectLimitMs = CONNECT_LIMIT_MS }: PoolOptions): number {
  return connectLimitMs;
}

function closedByUs(): Error {
  return Object.assign(new Error("the connections are closed"), { code: "CONNECTION_ENDED" });
}

/** Sent by the simple protocol, which leaves nothing in a pooler's session. */
async function announcesItsBackend(sql: postgres.Sql): Promise<boolean> {
  const result = await sql.unsafe<{ pid: number }[]>("select pg_backend_pid() as pid");
  return result.state.pid === result[0]?.pid;
}

function driverSettings(
  options: PoolOptions & { address: DatabaseAddress },
  prepare: boolean,
  socket: () => Promise<DriverStream>,
): postgres.Options<Record<string, never>> {
  const { address } = options;
  const settings = {
    host: [address.host],
    port: [address.port],
    ...(address.user === undefined ? {} : { user: address.user }),
    ...(address.database === undefined ? {} : { database: address.database }),
    // A function, because an empty text would make the driver read PGPASSWORD, a secret that `redact` does not know.
    password: () => address.password,
    // Everything that the driver would otherwise read from PG* variables is set here.
    max: options.max,
    ssl: false,
    sslnegotiation: null,
    prepare,
    debug: false,
    publications: "",
    connect_timeout: limitOf(options) / 1000,
    idle_timeout: 60,
    max_lifetime: 30 * 60,
    max_pipeline: 100,
    // Short and without growth: the code that repeats a statement decides how long to wait.
    backoff: () => 0.1 + Math.random() / 10,
    keep_alive: 30,
    fetch_types: false,
    connection: { ...address.startup, application_name: options.applicationName },
    types: { date: DATE_AS_TEXT },
    onnotice: () => {},
    socket,
  };
  // The driver's type lacks `socket` and lists of hosts, which it documents or reads.
  return settings as unknown as postgres.Options<Record<string, never>>;
}

const DATE_AS_TEXT = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (value: unknown) => (value instanceof Date ? value.toISOString() : String(value)),
  parse: (text: string) => text,
};

function addressOf(url: Secret, setting = "DATABASE_URL"): DatabaseAddress {
  const address = parseDatabaseUrl(url.open());
  if (typeof address !== "string") return address;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: `Cannot connect to the database: ${setting} ${address}`,
    hint: "Expected postgres://user:password@host:5432/database with special characters percent-encoded",
  });
}
