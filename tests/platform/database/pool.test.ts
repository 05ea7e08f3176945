import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { userInfo } from "node:os";
import { type Database, type OpeningPatience, openDatabase } from "../../../lib/platform/database/pool.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { startTcpProxy } from "../../standins/tcp-proxy.ts";
import { faultOf, outcome } from "../../support/database-fault.ts";
import { PASSWORD, type PostgresServer, sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { cuttingProxy } from "../support/cutting-proxy.ts";
import { announceOtherProcess, countingPooler, listen } from "../support/wire.ts";

let server: PostgresServer;
let database: TestDatabase;

beforeAll(async () => {
  server = await sharedPostgres();
  database = await server.createDatabase({ migrated: false, appSchema: false });
});
afterAll(() => database.drop());

function open(
  url: string,
  options: { max?: number; connectLimitMs?: number; patience?: OpeningPatience } = {},
): Promise<Database> {
  return openDatabase(new Secret(url), { max: 2, applicationName: "opsctl test", ...options });
}

/** The test database's URL with another port, and what else is asked for. */
function at(port: number, change: (url: URL) => void = () => {}): string {
  const url = new URL(database.url);
  url.port = String(port);
  change(url);
  return url.href;
}

async function failure(opening: Promise<Database>): Promise<OpsError> {
  const error = await opening.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpsError);
  return error as OpsError;
}

describe("openDatabase() on a server", () => {
  test("prepares statements, names itself, and leaves dates, int8 and numeric as the server's text", async () => {
    const db = await open(at(server.port, (url) => url.searchParams.set("TimeZone", "Asia/Tokyo")));
    const rows = await db.sql`
      select '2026-11-16 03:00:00.123456Z'::timestamptz as instant, '2026-11-16'::date as day,
             ${"9007199254740993"}::int8 as big, 1.10::numeric as fraction, current_setting('application_name') as name`;
    expect([...rows]).toEqual([
      {
        instant: "2026-11-16 12:00:00.123456+09",
        day: "2026-11-16",
        big: "9007199254740993",
        fraction: "1.10",
        name: "opsctl test",
      },
    ]);
    const prepared = await db.sql`select count(*)::int as n from pg_prepared_statements where ${true}`;
    expect(db.prepares).toBe(true);
    expect(prepared[0]?.n).toBeGreaterThan(0);
    await db.close();
  });

  test("takes a Date or its text for a timestamp", async () => {
    const db = await open(database.url);
    const instant = "2026-11-16T03:00:00.000Z";
    const rows = await db.sql`select ${new Date(instant)}::timestamptz = ${instant}::timestamptz as same`;
    expect(rows[0]?.same).toBe(true);
    await db.close();
  });

  test("opens with a percent-encoded password, and takes nothing from PG* variables", async () => {
    const password = "p@ss/w:rd%20?#ü";
    await database.sql.unsafe(`create role encoded login password '${password}'`);
    Object.assign(process.env, {
      PGPASSWORD: "wrong",
      PGHOST: "192.0.2.1",
      PGUSER: "nobody",
      PGAPPNAME: "other",
    });
    try {
      const url = `postgres://encoded:${encodeURIComponent(password)}@127.0.0.1:${server.port}/${database.name}`;
      const db = await open(url);
      expect((await db.sql`select current_user as name`)[0]?.name).toBe("encoded");
      await db.close();
    } finally {
      for (const name of ["PGPASSWORD", "PGHOST", "PGUSER", "PGAPPNAME"]) delete process.env[name];
      await database.sql.unsafe("drop role encoded");
    }
  });

  test("leaves no connection open after close()", async () => {
    const db = await open(at(server.port));
    await Promise.all([1, 2, 3, 4].map((n) => db.sql`select ${n}::int`));
    await db.close();
    const left = () => database.sql`
      select 1 from pg_stat_activity where application_name = 'opsctl test' and datname = ${database.name}`;
    await until("the server has noticed it", async () => (await left()).length === 0);
  });
});

describe("openDatabase() behind a pooler", () => {
  test("prepares nothing, neither before it knows nor afterwards", async () => {
    await using pooler = await startTcpProxy(server.port, announceOtherProcess);
    const db = await open(at(pooler.port), { max: 1 });
    await db.sql`select ${1}::int`;
    const prepared = await db.sql`select count(*)::int as n from pg_prepared_statements where ${true}`;
    expect(db.prepares).toBe(false);
    expect(prepared[0]?.n).toBe(0);
    await db.close();
  });

  test("sends no statement before the one before it is answered, however many there are at once", async () => {
    await using pooler = await countingPooler(server.port);
    const db = await open(at(pooler.port), { max: 2 });
    const failing = () => db.sql`select 1 / 0 as n`.catch(() => [{ n: 0 }]);
    const ways = [
      () => db.sql`select 1 as n`,
      () => db.sql`select ${2}::int as n`,
      () => db.sql.unsafe("select 3 as n"),
      () => db.sql.unsafe("select 4 as n").simple(),
      () => db.sql.begin(async (tx) => [...(await tx`select 5 as n`), ...(await tx`select 6 as n`)]),
      failing,
    ];
    const rounds = Array.from({ length: 5 }, () => ways.map((ask) => ask())).flat();
    const answers = await Promise.all(rounds);
    expect(answers.map((rows) => rows.map(({ n }) => n))).toEqual(
      Array.from({ length: 5 }, () => [[1], [2], [3], [4], [5, 6], [0]]).flat(),
    );
    expect(pooler.early()).toBe(0);
    await db.close();
  });

  test("sends nothing after close(), also of what waited for a turn in connections that were given up", async () => {
    await using pooler = await startTcpProxy(server.port, announceOtherProcess);
    const db = await open(at(pooler.port), { max: 1 });
    const silent = outcome(db.sql`select pg_sleep(600)`);
    const waiting = outcome(db.sql`create table too_late (n int)`);
    db.renew();
    await db.sql`select 1`;
    await db.close();
    expect(await Promise.all([silent, waiting])).toEqual(["DATABASE_LOST", "DATABASE_LOST"]);
    const [made] = await database.sql`select to_regclass('too_late') is not null as is_made`;
    expect(made?.is_made).toBe(false);
  });

  test("sends no setting at the start but the application's name", async () => {
    await using peer = await recordingPeer();
    await failure(open(at(peer.port)));
    expect(Object.keys(peer.startup()).sort()).toEqual([
      "application_name",
      "client_encoding",
      "database",
      "user",
    ]);
  });

  const ME = userInfo().username;
  test.each([
    ["postgres://PEER/", ME, ME],
    ["postgres://u@PEER/", "u", "u"],
    ["postgres://us%40er:p@PEER/my%20db", "us@er", "my db"],
    ["postgres://u@PEER/db?user=v&dbname=e", "v", "e"],
    ["postgresql://u@/db?host=127.0.0.1&port=PORT", "u", "db"],
    ["postgres://u@[::ffff:127.0.0.1]:PORT/db", "u", "db"],
  ])("takes user and database from %s alone, and from no PG* variable", async (text, user, name) => {
    await using peer = await recordingPeer();
    const variables = { PGUSER: "canary", PGUSERNAME: "canary", PGDATABASE: "canary" };
    Object.assign(process.env, variables);
    try {
      await failure(open(text.replace("PEER", `127.0.0.1:${peer.port}`).replace("PORT", String(peer.port))));
    } finally {
      for (const name of Object.keys(variables)) delete process.env[name];
    }
    expect(peer.startup()).toMatchObject({ user, database: name });
    expect(JSON.stringify(peer.startup())).not.toContain("canary");
  });

  test("hands the URL's settings to the server, and keeps those of other clients to itself", async () => {
    await using peer = await recordingPeer();
    const query =
      "pgbouncer=true&connect_timeout=5&application_name=x&client_encoding=LATIN1&search_path=app";
    await failure(open(`postgres://u@127.0.0.1:${peer.port}/d?${query}&options=-c%20a%3Db`));
    expect(peer.startup()).toEqual({
      user: "u",
      database: "d",
      application_name: "opsctl test",
      client_encoding: "UTF8",
      search_path: "app",
      options: "-c a=b",
    });
  });
});

/** A server that reads a startup message and hangs up. */
async function recordingPeer() {
  let words: string[] = [];
  const peer = await listen((socket) => {
    socket.on("data", (bytes: Buffer) => {
      words = bytes.subarray(8).toString("utf8").split("\0").filter(Boolean);
      socket.destroy();
    });
  });
  const startup = () =>
    Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]]] : [])));
  return Object.assign(peer, { startup });
}

describe("openDatabase() that fails", () => {
  test("a wrong password and a missing database have codes of their own", async () => {
    const wrong = await failure(open(at(server.port, (url) => (url.password = "canary-wrong"))));
    expect(wrong.code).toBe("DATABASE_AUTH_FAILED");
    const missing = await failure(open(at(server.port, (url) => (url.pathname = "/not_there"))));
    expect(missing.code).toBe("DATABASE_NOT_FOUND");
    for (const error of [wrong, missing])
      expect(JSON.stringify([error.message, error.hint])).not.toContain("canary");
  });

  test("a URL that cannot be used is refused", async () => {
    expect(await failure(open("mysql://u:canary@h/d"))).toMatchObject({
      code: "CONFIG_INVALID",
      message: "Cannot connect to the database: DATABASE_URL is not a postgres:// URL",
    });
  });

  test("a port where nobody listens and a name that does not exist are unreachable", async () => {
    expect((await failure(open(at(1)))).code).toBe("DATABASE_UNREACHABLE");
    const unknown = open(at(server.port, (url) => (url.hostname = "does-not-exist.invalid")));
    expect((await failure(unknown)).code).toBe("DATABASE_UNREACHABLE");
  });

  test("a Unix socket that does not exist is unreachable, and the error says so", async () => {
    const error = await failure(open("postgres:///app?host=/nonexistent&user=u", { connectLimitMs: 60_000 }));
    expect(error.code).toBe("DATABASE_UNREACHABLE");
    expect(error.message).toBe("Cannot connect to the database: the connection failed with ENOENT");
  });

  test("a server that accepts and never answers is unreachable, with and without TLS", async () => {
    await using silent = await listen(() => {});
    for (const sslmode of ["disable", "require"]) {
      const url = at(silent.port, ({ searchParams }) => searchParams.set("sslmode", sslmode));
      expect((await failure(open(url, { connectLimitMs: 200 }))).message).toContain("CONNECT_TIMEOUT");
    }
  });

  test("a server that accepts and hangs up is unreachable after a single try", async () => {
    await using rude = await listen((socket) => socket.end());
    expect((await failure(open(at(rude.port)))).code).toBe("DATABASE_UNREACHABLE");
    expect(rude.connections()).toBe(1);
    await using ruder = await listen((socket) => socket.once("data", () => socket.end()));
    expect((await failure(open(at(ruder.port)))).code).toBe("DATABASE_UNREACHABLE");
    expect(ruder.connections()).toBe(1);
  });
});

describe("openDatabase() with patience", () => {
  const patience = (
    onWait: (code: string, limitMs: number) => void,
    signal = new AbortController().signal,
  ) => ({
    limitMs: 60_000,
    unreachableLimitMs: 60_000,
    signal,
    onWait,
  });

  test("waits for a server that has no connection left, says so once, and opens", async () => {
    await database.sql.unsafe(`create role crowded login password '${PASSWORD}' connection limit 0`);
    try {
      const url = server.url(database.name, "crowded");
      const { message, hint } = await failure(open(url));
      expect(`${message} ${hint}`).toMatch(/SQLSTATE 53300.* has no connection left/);
      const told: unknown[] = [];
      const isLifted = Promise.withResolvers<unknown>();
      const waiting = patience((...given) => {
        told.push(given);
        isLifted.resolve(database.sql.unsafe("alter role crowded connection limit -1"));
      });
      const db = await open(url, { patience: waiting });
      await isLifted.promise;
      expect((await db.sql`select 1 as n`)[0]?.n).toBe(1);
      expect(told).toEqual([["53300", 60_000]]);
      await db.close();

      await database.sql.unsafe("alter role crowded connection limit 0");
      const signal = new AbortController();
      const interrupted = open(url, { patience: patience(() => signal.abort(), signal.signal) });
      expect((await failure(interrupted)).code).toBe("DATABASE_UNREACHABLE");
    } finally {
      await database.sql.unsafe("drop role crowded");
    }
  });

  test.each(["refuses connections", "drops connections"])(
    "waits for a server that %s, says so once, and opens",
    async (how) => {
      const proxy = await startTcpProxy(server.port);
      if (how === "refuses connections") proxy.vanish();
      else proxy.close();
      try {
        expect((await failure(open(at(proxy.port)))).code).toBe("DATABASE_UNREACHABLE");
        const told: string[] = [];
        const waiting = patience((code) => {
          told.push(code);
          proxy.open();
        });
        const db = await open(at(proxy.port), { patience: waiting });
        expect((await db.sql`select 1 as n`)[0]?.n).toBe(1);
        expect(told).toEqual([how === "refuses connections" ? "DATABASE_UNREACHABLE" : "DATABASE_LOST"]);
        await db.close();
      } finally {
        await proxy.stop();
      }
    },
  );

  test("waits no longer than its limit, and ends at once at a signal", async () => {
    const told: string[] = [];
    const impatient = { ...patience((code) => told.push(code)), unreachableLimitMs: 0 };
    expect((await failure(open(at(1), { patience: impatient }))).code).toBe("DATABASE_UNREACHABLE");
    expect(told).toEqual([]);
    const signal = new AbortController();
    const interrupted = open(at(1), { patience: patience(() => signal.abort(), signal.signal) });
    expect((await failure(interrupted)).code).toBe("DATABASE_UNREACHABLE");
  });

  test("waits for nothing that only a change of the settings can end", async () => {
    const never = patience(() => {
      throw new Error("waited");
    });
    const codeOf = async (url: string) => (await failure(open(url, { patience: never }))).code;
    const wrong = at(server.port, (url) => (url.password = "canary-wrong"));
    expect(await codeOf(wrong)).toBe("DATABASE_AUTH_FAILED");
    const missing = at(server.port, (url) => (url.pathname = "/no_such_database"));
    expect(await codeOf(missing)).toBe("DATABASE_NOT_FOUND");
    await using withoutTls = await listen((socket) => socket.once("data", () => socket.end("N")));
    const unencrypted = at(withoutTls.port, (url) => url.searchParams.set("sslmode", "require"));
    expect(await codeOf(unencrypted)).toBe("DATABASE_UNREACHABLE");
    expect(withoutTls.connections()).toBe(1);
  });
});

describe("a server that refuses a write as read-only", () => {
  const readOnly = (sql: Database["sql"]) =>
    sql.unsafe("begin read only; create table never (n int)").then(undefined, faultOf);
  const pid = async (sql: Database["sql"]) => (await sql`select pg_backend_pid() as pid`)[0]?.pid;

  test("gets no further statement on that connection: the next one leads to the new primary", async () => {
    await using proxy = await startTcpProxy(server.port);
    const db = await open(at(proxy.port), { max: 1 });
    const before = await pid(db.sql);
    expect(await pid(db.sql)).toBe(before);
    expect(await readOnly(db.sql)).toMatchObject({ code: "DATABASE_READ_ONLY", transient: true });
    expect(await pid(db.sql)).not.toBe(before);
    expect(proxy.connections).toBe(2);
    await db.close();
  });

  test("is understood wherever its packets are cut", async () => {
    await using proxy = await cuttingProxy(server.port, "25006");
    const db = await open(at(proxy.port), { max: 1 });
    const before = await pid(db.sql);
    expect(await readOnly(db.sql)).toMatchObject({ code: "DATABASE_READ_ONLY", transient: true });
    expect(proxy.cuts()).toBeGreaterThan(4);
    expect(await pid(db.sql)).not.toBe(before);
    await db.close();
  });

  test("a transaction fails as read-only, and the process goes on", async () => {
    const db = await open(at(server.port), { max: 1 });
    const before = await pid(db.sql);
    const refused = db.sql.begin("read only", async (tx) => await tx`create table never (n int)`);
    expect(await outcome(refused)).toBe("DATABASE_READ_ONLY");
    expect(await pid(db.sql)).not.toBe(before);
    await db.close();
  });

  test("keeps the connection after any other refusal, also one whose message contains such a code", async () => {
    const db = await open(at(server.port), { max: 1 });
    const before = await pid(db.sql);
    await db.sql`select 1 / 0`.catch(() => {});
    await db.sql.unsafe("do $$ begin raise 'VERROR C25006 VERROR'; end $$").catch(() => {});
    await db.sql`select 'VERROR', 'C25006'`;
    expect(await pid(db.sql)).toBe(before);
    await db.close();
  });
});

describe("a lost connection", () => {
  test("ends the statement in flight, and the next one goes through", async () => {
    await using proxy = await startTcpProxy(server.port);
    const db = await open(at(proxy.port));
    const slow = db.sql`select pg_sleep(600)`.then(undefined, faultOf);
    await db.sql`select 1`;
    proxy.cut();
    expect(await slow).toMatchObject({ code: "DATABASE_LOST", transient: true });
    expect((await db.sql`select ${2}::int as n`)[0]?.n).toBe(2);
    await db.close();
  });

  test("leaves no statement unanswered that is begun while it breaks", async () => {
    await using proxy = await startTcpProxy(server.port);
    const db = await open(at(proxy.port), { max: 4 });
    const codes = new Set<string>();
    for (let round = 0; round < 30; round++) {
      // Each failure is followed at once by another statement: the moment in which the driver used to lose one.
      const worker = async () => {
        for (let step = 0; step < 4; step++) codes.add(await outcome(db.sql`select ${step}::int`));
      };
      const workers = [1, 2, 3, 4, 5, 6].map(worker);
      proxy.cut();
      await Promise.all(workers);
    }
    expect([...codes].sort()).toEqual(["DATABASE_LOST", "ok"]);
    expect((await db.sql`select 1 as n`)[0]?.n).toBe(1);
    await db.close();
  });

  test("is found again when the server is back", async () => {
    await using proxy = await startTcpProxy(server.port);
    const db = await open(at(proxy.port));
    const asked = () => outcome(db.sql`select 1 as n`);
    proxy.close();
    expect([await asked(), await asked(), await asked()]).toEqual([
      "DATABASE_LOST",
      "DATABASE_LOST",
      "DATABASE_LOST",
    ]);
    proxy.open();
    expect(await asked()).toBe("ok");
    await db.close();
  });

  test("a connection lost in a transaction ends the transaction", async () => {
    await using proxy = await startTcpProxy(server.port);
    const db = await open(at(proxy.port));
    const broken = db.sql.begin(async (sql) => {
      await sql`select 1`;
      proxy.cut();
      await sql`select 2`;
    });
    expect(await outcome(broken)).toBe("DATABASE_LOST");
    expect(await db.sql.begin((sql) => sql`select 1 as n`.then(([row]) => row?.n))).toBe(1);
    await db.close();
  });

  test.each([
    ["a server", (bytes: Buffer) => bytes],
    ["a pooler", announceOtherProcess],
  ])(
    "a connection lost under a statement with parameters ends the transaction, at %s",
    async (_at, rewrite) => {
      await using proxy = await startTcpProxy(server.port, rewrite);
      const db = await open(at(proxy.port), { max: 1 });
      const broken = db.sql.begin("read only", async (sql) => {
        await sql`select 1`;
        proxy.cut();
        await sql`select ${2}::int`;
      });
      expect(await outcome(broken)).toBe("DATABASE_LOST");
      expect(await db.sql.begin((sql) => sql`select ${1}::int as n`.then(([row]) => row?.n))).toBe(1);
      await db.close();
    },
  );

  test("a connection lost while its transaction waits for something else fails that, and not the process", async () => {
    await using proxy = await startTcpProxy(server.port);
    const db = await open(at(proxy.port));
    for (const endsWell of [true, false]) {
      const broken = db.sql.begin(async (sql) => {
        await sql`select 1`;
        proxy.cut();
        // Until the loss has arrived here, and long after it.
        await until("a statement that works", async () => (await outcome(db.sql`select 1`)) === "ok");
        if (!endsWell) throw new Error("of the caller");
        await sql`select 2`.catch(() => {});
        await sql`select 3`.catch(() => {});
      });
      expect(await outcome(broken)).toBe("DATABASE_LOST");
    }
    expect((await db.sql`select 1 as n`)[0]?.n).toBe(1);
    await db.close();
  });
});
