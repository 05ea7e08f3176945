import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { opsctl } from "../../e2e/support/opsctl.ts";
import { type Asking, type AskingPostgres, startAskingPostgres } from "../../standins/asking-postgres.ts";
import { PASSWORD } from "../../support/postgres.ts";
import { requires } from "../../support/requires.ts";
import { startTlsPostgres, type TlsPostgres } from "../support/tls-postgres.ts";

const user = "report";
const REFUSED = "DATABASE_AUTH_FAILED CLEAR_TEXT_PASSWORD";

/** An address of this machine that is no loopback address: as good as another host. */
const elsewhere = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
const withAddress = requires("address");

/** `logged in` or the code of the refusal; a server that then answers no statement has accepted it all the same. */
async function loginAt(url: string): Promise<string> {
  try {
    const options = { max: 1, applicationName: "opsctl test", connectLimitMs: 5_000, closeLimitMs: 200 };
    const { close } = await openDatabase(new Secret(url), options);
    await close();
    return "logged in";
  } catch (error) {
    if (error instanceof OpsError) return `${error.code} ${/failed with (\S+)/.exec(error.message)?.[1]}`;
    throw error;
  }
}

/** What a login gets from a server that asks like this, and what the server heard. */
async function askedBy(host: string, asking: Asking, query: string) {
  const server = await startAskingPostgres({ host, asking, user, password: PASSWORD });
  try {
    const url = `postgres://${user}:${PASSWORD}@${host}:${server.port}/app?${query}`;
    return { outcome: await loginAt(url), logins: server.logins, heard: heardBy(server) };
  } finally {
    await server.stop();
  }
}

function heardBy({ ledger }: AskingPostgres): "the password" | "nothing of it" | "no login" {
  const bytes = Buffer.concat(ledger);
  if (bytes.includes(PASSWORD)) return "the password";
  return bytes.includes(user) ? "nothing of it" : "no login";
}

describe("a server on another host without TLS", () => {
  const tried = elsewhere ?? "127.0.0.1";
  for (const asking of ["clear text", "byte by byte", "later"] as const)
    for (const sslmode of ["disable", "prefer"])
      withAddress.test(
        `a server that asks for the password gets none: ${asking}, sslmode=${sslmode}`,
        async () => {
          expect(await askedBy(tried, asking, `sslmode=${sslmode}`)).toEqual({
            outcome: REFUSED,
            logins: 0,
            heard: "nothing of it",
          });
        },
      );

  withAddress.test(`does not even hear of the login unless the URL says so`, async () => {
    const refused = "DATABASE_UNREACHABLE TLS_REFUSED";
    expect(await askedBy(tried, "clear text", "")).toEqual({
      outcome: refused,
      logins: 0,
      heard: "no login",
    });
  });

  withAddress.test(`a server that asks by a challenge gets its answer`, async () => {
    expect(await askedBy(tried, "md5", "sslmode=disable")).toEqual({
      outcome: "logged in",
      logins: 1,
      heard: "nothing of it",
    });
  });

  withAddress.test(`is refused by the compiled binary, which says what to write`, async () => {
    const server = await startAskingPostgres({
      host: tried,
      asking: "clear text",
      user,
      password: PASSWORD,
    });
    const DATABASE_URL = `postgres://${user}:${PASSWORD}@${tried}:${server.port}/app?sslmode=disable`;
    const ended = await opsctl(["deliveries", "list", "--json"], { env: { DATABASE_URL } });
    await server.stop();
    expect(ended.exitCode).toBe(3);
    expect(ended.json.error).toMatchObject({ code: "DATABASE_AUTH_FAILED" });
    const said = ended.stdout + ended.stderr;
    expect(said).toContain("asked for the password in clear text without TLS, and did not get it");
    expect(said).toContain("sslmode=verify-full");
    expect(said).not.toContain(PASSWORD);
    expect(heardBy(server)).toBe("nothing of it");
  });
});

test("a server on loopback that asks for the password in clear text gets it", async () => {
  expect(await askedBy("127.0.0.1", "clear text", "")).toEqual({
    outcome: "logged in",
    logins: 1,
    heard: "the password",
  });
});

describe("a real PostgreSQL that takes passwords in clear text only", () => {
  let folder: string;
  let tls: TlsPostgres;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "opsctl-hba-"));
    chmodSync(folder, 0o777);
    const hba = join(folder, "pg_hba.conf");
    writeFileSync(hba, "local all all password\nhost all all all password\n");
    const listen_addresses = ["127.0.0.1", ...(elsewhere === undefined ? [] : [elsewhere])].join(",");
    tls = await startTlsPostgres({ hba_file: hba, listen_addresses, unix_socket_directories: folder });
  });
  afterAll(async () => {
    await tls.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const at = (host: string, query: string) =>
    `${tls.server.url("postgres").replace("127.0.0.1", host)}?${query}`;

  const expectOutcomes = async (expected: [url: string, outcome: string][]) =>
    expect(await Promise.all(expected.map(([url]) => loginAt(url)))).toEqual(
      expected.map(([, outcome]) => outcome),
    );

  test("gets one over loopback and through a socket", async () => {
    await expectOutcomes([
      [at("127.0.0.1", ""), "logged in"],
      [at(encodeURIComponent(folder), ""), "logged in"],
      [at(encodeURIComponent(folder), "sslmode=verify-full"), "logged in"],
      [
        `postgres:///postgres?host=${folder}&port=${tls.server.port}&user=postgres&password=${PASSWORD}`,
        "logged in",
      ],
      [at("127.0.0.1", "sslmode=require"), "logged in"],
    ]);
  });

  withAddress.test("gets one on another host over TLS and none without", async () => {
    const host = elsewhere ?? "";
    await expectOutcomes([
      [at(host, "sslmode=require"), "logged in"],
      [at(host, "sslmode=disable"), REFUSED],
    ]);
  });
});
