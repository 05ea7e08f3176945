import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { freePort } from "../support/free-port.ts";
import { PASSWORD, type PostgresServer } from "../support/postgres.ts";

/** A running PgBouncer in transaction mode in front of a test server. */
export type Pooler = { url(database: string, user?: string): string; stop(): Promise<void> };

/**
 * Starts the machine's `pgbouncer` with `sessions` server sessions per database, so that clients share them, and more
 * `settings` of its file.
 *
 * Errors: when the program is not installed; this run proves something or fails.
 */
export async function startPgbouncer(
  server: PostgresServer,
  logins: readonly string[],
  { sessions = 2, settings = [] }: { sessions?: number; settings?: readonly string[] } = {},
): Promise<Pooler> {
  const home = mkdtempSync(join(tmpdir(), "opsctl-pgbouncer-"));
  chmodSync(home, 0o755);
  const port = await freePort();
  writeFileSync(join(home, "users.txt"), logins.map((login) => `"${login}" "${PASSWORD}"\n`).join(""));
  writeFileSync(
    join(home, "pgbouncer.ini"),
    [
      "[databases]",
      `* = host=127.0.0.1 port=${server.port}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "pool_mode = transaction",
      `default_pool_size = ${sessions}`,
      "auth_type = scram-sha-256",
      `auth_file = ${join(home, "users.txt")}`,
      ...settings,
      "",
    ].join("\n"),
  );
  // PgBouncer refuses to stay root; it changes the account itself, as that one may not reach the program.
  const account = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn("pgbouncer", ["-q", ...account, join(home, "pgbouncer.ini")], { stdio: "ignore" });
  const failed = new Promise<never>((_, reject) => child.once("error", reject));
  const url = (database: string, user = logins[0] ?? "postgres") =>
    `postgres://${user}:${PASSWORD}@127.0.0.1:${port}/${database}`;
  await Promise.race([failed, reachable(url("postgres"), child)]);
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function reachable(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null)
      throw new Error(`pgbouncer ended with ${child.exitCode} before it was reachable`);
    const sql = postgres(url, { max: 1, prepare: false, fetch_types: false, connect_timeout: 5 });
    try {
      await sql`select 1`;
      return;
    } catch {
      // Not listening yet: ask again.
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
