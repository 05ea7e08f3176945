/** The ways in which a real database is away for a while. */
import type postgres from "postgres";
import type { TcpProxy } from "../../standins/tcp-proxy.ts";
import { connect, type PostgresServer } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";

/** One way of being away: `begin` has returned when it is so, `end` when it is over. */
export type Fault = { begin(): Promise<void>; end(): Promise<void> };

/** What the faults work on: a server of the test's own, a superuser's sessions, and the run's login and way there. */
export type FaultyDatabase = { server: PostgresServer; sql: postgres.Sql; login: string; proxy: TcpProxy };

/** The faults by name. */
export function faultsOf(database: () => FaultyDatabase) {
  return {
    "read-only": {
      begin: () => setReadOnly(database(), true),
      end: () => setReadOnly(database(), false),
    },
    refused: {
      begin: async () => database().proxy.close(),
      end: async () => database().proxy.open(),
    },
    restarted: {
      begin: () => database().server.halt("fast"),
      end: () => database().server.resume(),
    },
    crashed: {
      begin: () => database().server.halt("immediate"),
      end: () => database().server.resume(),
    },
    "out of connections": {
      async begin() {
        const { sql, login } = database();
        await sql.unsafe(`alter role ${login} connection limit 0`);
        await endSessions(sql, login);
      },
      async end() {
        const { sql, login } = database();
        await sql.unsafe(`alter role ${login} connection limit -1`);
      },
    },
    cut: {
      begin: () => endSessions(database().sql, database().login),
      end: async () => {},
    },
  } satisfies Record<string, Fault>;
}

/**
 * Sets the whole server read-only, or lets it write again; sessions stay open.
 *
 * Behaviour: a new session shows the setting only after the server has told it to all others.
 */
export async function setReadOnly(
  { server, sql, login }: Pick<FaultyDatabase, "server" | "sql" | "login">,
  isOn: boolean,
): Promise<void> {
  const wanted = isOn ? "on" : "off";
  await sql.unsafe(`alter system set default_transaction_read_only = ${wanted}`);
  await sql`select pg_reload_conf()`;
  await until("the setting in a new session", async () => {
    const fresh = connect(server.url("postgres", login));
    try {
      const [row] = await fresh`show default_transaction_read_only`;
      return row!.default_transaction_read_only === wanted;
    } finally {
      await fresh.end({ timeout: 1 });
    }
  });
}

/** Ends every session of a login, and waits until they are gone. */
async function endSessions(sql: postgres.Sql, login: string): Promise<void> {
  const sessions = () => sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${login}`;
  await until("the end of all sessions", async () => (await sessions()).length === 0);
}
