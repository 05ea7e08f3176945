import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../lib/platform/database.ts";
import { OpsError } from "../../lib/platform/errors.ts";
import { Secret } from "../../lib/platform/secret.ts";
import { type PostgresServer, sharedPostgres, startPostgres } from "../postgres.ts";
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from "../standins/localhost-certificate.ts";

const NOBODY = 65534;

let folder: string;
let certificate: string;
let server: PostgresServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-tls-"));
  chmodSync(folder, 0o755);
  certificate = join(folder, "certificate.pem");
  const key = join(folder, "key.pem");
  writeFileSync(certificate, LOCALHOST_CERTIFICATE);
  writeFileSync(key, LOCALHOST_KEY, { mode: 0o600 });
  if (process.getuid?.() === 0) chownSync(key, NOBODY, NOBODY);
  server = await startPostgres({ settings: { ssl: "on", ssl_cert_file: certificate, ssl_key_file: key } });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether the session is encrypted, or the code of why there is none. */
async function session(of: PostgresServer, host: string, query: string): Promise<boolean | string> {
  const url = `${of.url("postgres").replace("127.0.0.1", host)}?${query.replace("CERT", certificate)}`;
  try {
    const { sql, close } = await openDatabase(new Secret(url), { max: 1, applicationName: "opsctl test" });
    const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    await close();
    return row?.ssl ?? "no row";
  } catch (error) {
    if (error instanceof OpsError) return `${error.code} ${/failed with (\S+)/.exec(error.message)?.[1]}`;
    throw error;
  }
}

test.each([
  ["127.0.0.1", "sslmode=disable", false],
  ["127.0.0.1", "", false],
  ["127.0.0.1", "sslmode=prefer", true],
  ["127.0.0.1", "sslmode=require", true],
  ["127.0.0.1", "sslmode=verify-ca", "DATABASE_UNREACHABLE DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["127.0.0.1", "sslmode=verify-ca&sslrootcert=CERT", true],
  ["127.0.0.1", "sslmode=require&sslrootcert=CERT", true],
  ["127.0.0.1", "sslmode=verify-full&sslrootcert=CERT", "DATABASE_UNREACHABLE ERR_TLS_CERT_ALTNAME_INVALID"],
  ["localhost", "sslmode=verify-full&sslrootcert=CERT", true],
  ["localhost", "sslmode=verify-full", "DATABASE_UNREACHABLE DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["localhost", "sslmode=verify-full&sslrootcert=/nonexistent", "DATABASE_UNREACHABLE ENOENT"],
] as const)("openDatabase() at %s with %j", async (host, query, expected) => {
  expect(await session(server, host, query)).toBe(expected);
});

test("openDatabase() at a server without TLS falls back only when TLS is merely preferred", async () => {
  const plain = await sharedPostgres();
  expect(await session(plain, "127.0.0.1", "sslmode=prefer")).toBe(false);
  expect(await session(plain, "127.0.0.1", "sslmode=require")).toBe("DATABASE_UNREACHABLE TLS_REFUSED");
});
