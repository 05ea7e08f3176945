/** A real PostgreSQL that shows one certificate after the other. */
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import postgres from "postgres";
import { CERTIFICATE_KEY, CERTIFICATES } from "../../standins/certificates.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";

const NOBODY = 65534;
const TLS_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

/** A running server with TLS. */
export type TlsPostgres = {
  server: PostgresServer;
  /** Where certificates may be written for clients to read. */
  folder: string;
  /** Shows another certificate to everyone who connects after this. */
  show(name: keyof typeof CERTIFICATES): Promise<void>;
  stop(): Promise<void>;
};

/** Starts the server; `settings` are added to its command line. */
export async function startTlsPostgres(settings: Record<string, string> = {}): Promise<TlsPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-tls-"));
  chmodSync(folder, 0o755);
  const certificate = join(folder, "certificate.pem");
  const key = join(folder, "key.pem");
  writeFileSync(certificate, CERTIFICATES.localhost);
  writeFileSync(key, CERTIFICATE_KEY, { mode: 0o600 });
  if (process.getuid?.() === 0) chownSync(key, NOBODY, NOBODY);
  const server = await startPostgres({
    inMemory: true,
    settings: { ssl: "on", ssl_cert_file: certificate, ssl_key_file: key, ...settings },
  });
  return {
    server,
    folder,
    async show(name) {
      writeFileSync(certificate, CERTIFICATES[name]);
      const sql = postgres(server.url("postgres"), { max: 1 });
      await sql`select pg_reload_conf()`;
      await sql.end();
      const { fingerprint256 } = new X509Certificate(CERTIFICATES[name]);
      // The server takes it over a moment later.
      await until("the new certificate", async () => (await shownAt(server.port)) === fingerprint256);
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function shownAt(port: number): Promise<string> {
  const socket = connectPlain(port, "127.0.0.1");
  socket.write(TLS_REQUEST);
  await once(socket, "data");
  const tls = connectTls({ socket, rejectUnauthorized: false });
  await once(tls, "secureConnect");
  const { fingerprint256 } = tls.getPeerCertificate();
  tls.destroy();
  return fingerprint256;
}
