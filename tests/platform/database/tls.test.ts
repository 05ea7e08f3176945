import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { opsctl } from "../../e2e/support/opsctl.ts";
import { AUTHORITY, type CERTIFICATES } from "../../standins/certificates.ts";
import { PASSWORD, sharedPostgres } from "../../support/postgres.ts";
import { startTlsPostgres, type TlsPostgres } from "../support/tls-postgres.ts";
import { sessionsOf } from "../support/tls-session.ts";
import { listen } from "../support/wire.ts";

let tls: TlsPostgres;
beforeAll(async () => {
  tls = await startTlsPostgres();
  writeFileSync(join(tls.folder, "authority.pem"), AUTHORITY);
  writeFileSync(
    join(tls.folder, "garbage.pem"),
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
  );
  writeFileSync(join(tls.folder, "empty.pem"), "");
  execFileSync("mkfifo", [join(tls.folder, "pipe.pem")]);
});
afterAll(() => tls.stop());

/** The URL of the server by this name of its host; FOLDER stands for where the certificates are. */
function urlAt(host: string, query: string, { url } = tls.server): string {
  return `${url("postgres").replace("127.0.0.1", host)}?${query.replace("FOLDER", tls.folder)}`;
}

/** What must not weaken a connection, whatever else it does. */
const NO_CHECKS = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
const ROOT = "sslrootcert=FOLDER/authority.pem";
const UNTRUSTED = "DATABASE_UNREACHABLE UNABLE_TO_VERIFY_LEAF_SIGNATURE";
const OTHER_NAME = "DATABASE_UNREACHABLE ERR_TLS_CERT_ALTNAME_INVALID";
// 0.0.0.0 leads to this host, and is none of the names that stand for it.
const CASES: Partial<Record<keyof typeof CERTIFICATES, [host: string, query: string, outcome: string][]>> = {
  localhost: [
    ["127.0.0.1", "", "plain"],
    ["127.0.0.1", "sslmode=disable", "plain"],
    ["127.0.0.1", "sslmode=prefer", "encrypted"],
    ["127.0.0.1", "sslmode=require", "encrypted"],
    ["127.0.0.1", `sslmode=require&${ROOT}`, "encrypted"],
    ["127.0.0.1", "sslmode=verify-ca", UNTRUSTED],
    ["127.0.0.1", `sslmode=verify-ca&${ROOT}`, "encrypted"],
    ["127.0.0.1", `sslmode=verify-full&${ROOT}`, OTHER_NAME],
    ["localhost", `sslmode=verify-full&${ROOT}`, "encrypted"],
    ["localhost", "sslmode=verify-full", UNTRUSTED],
    ["localhost", "sslmode=verify-full&sslrootcert=system", UNTRUSTED],
    ["localhost", "sslmode=verify-full&sslrootcert=/nonexistent", "DATABASE_UNREACHABLE ENOENT"],
    ["localhost", "sslrootcert=FOLDER/garbage.pem", "DATABASE_UNREACHABLE ROOT_CERTIFICATES_INVALID"],
    ["localhost", "sslrootcert=FOLDER/empty.pem", "DATABASE_UNREACHABLE ROOT_CERTIFICATES_MISSING"],
    ["localhost", "sslrootcert=FOLDER/pipe.pem", "DATABASE_UNREACHABLE ROOT_CERTIFICATES_INVALID"],
    ["localhost", "sslrootcert=FOLDER", "DATABASE_UNREACHABLE ROOT_CERTIFICATES_INVALID"],
    ["[::ffff:127.0.0.1]", "", "plain"],
    ["0.0.0.0", "", UNTRUSTED],
    ["0.0.0.0", ROOT, OTHER_NAME],
    ["0.0.0.0", "sslmode=require", "encrypted"],
    ["0.0.0.0", "sslmode=require&channel_binding=require", UNTRUSTED],
    ["0.0.0.0", "sslmode=disable", "plain"],
    ["0.0.0.0", "sslrootcert=system", UNTRUSTED],
    ["0.0.0.0", "sslmode=allow", "encrypted"],
    ["0.0.0.0", "ssl=true", "encrypted"],
    ["0.0.0.0", "ssl=require", UNTRUSTED],
    ["127.0.0.1", "ssl=require&sslmode=require", "encrypted"],
    ["127.0.0.1", "ssl=false", "plain"],
    ["127.0.0.1", "ssl=0", "plain"],
    ["127.0.0.1", "ssl=disable", "plain"],
    ["0.0.0.0", "sslmode=disable&channel_binding=require", UNTRUSTED],
    ["0.0.0.0", `sslmode=verify-ca&${ROOT}&channel_binding=require`, "encrypted"],
    ["0.0.0.0", `sslmode=require&${ROOT}&channel_binding=require`, "encrypted"],
    ["0.0.0.0", "sslmode=require&channel_binding=prefer", "encrypted"],
  ],
  loopback: [["127.0.0.1", `sslmode=verify-full&${ROOT}`, "encrypted"]],
  unspecified: [["0.0.0.0", ROOT, "encrypted"]],
  anotherName: [
    ["localhost", `sslmode=verify-full&${ROOT}`, OTHER_NAME],
    ["localhost", `sslmode=verify-ca&${ROOT}`, "encrypted"],
  ],
  selfSigned: [
    ["localhost", `sslmode=verify-full&${ROOT}`, "DATABASE_UNREACHABLE DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["localhost", "sslmode=require", "encrypted"],
  ],
  chain: [["localhost", `sslmode=verify-full&${ROOT}`, "encrypted"]],
  brokenChain: [["localhost", `sslmode=verify-full&${ROOT}`, UNTRUSTED]],
};

describe.each(Object.keys(CASES) as (keyof typeof CASES)[])("a server with the certificate %s", (name) => {
  const cases = CASES[name] ?? [];
  const expected = Object.fromEntries(cases.map(([host, query, outcome]) => [`${host} ${query}`, outcome]));
  const urls = () => cases.map(([host, query]) => urlAt(host, query));
  const named = (outcomes: readonly string[]) =>
    Object.fromEntries(cases.map(([host, query], index) => [`${host} ${query}`, outcomes[index]]));
  beforeAll(() => tls.show(name));

  test("is met as each URL says, whatever the environment says", async () => {
    Object.assign(process.env, NO_CHECKS);
    try {
      expect(named(await sessionsOf(urls()))).toEqual(expected);
    } finally {
      for (const variable of Object.keys(NO_CHECKS)) delete process.env[variable];
    }
  });
});

test("a certificate that is out of date is refused", async () => {
  await tls.show("expired");
  const urls = [urlAt("localhost", `sslmode=verify-full&${ROOT}`)];
  expect(await sessionsOf(urls)).toEqual(["DATABASE_UNREACHABLE CERT_HAS_EXPIRED"]);
});

test("a certificate that another server signed is refused", async () => {
  await tls.show("bySomeServer");
  const urls = ["verify-full", "verify-ca"].map((mode) => urlAt("localhost", `sslmode=${mode}&${ROOT}`));
  const refused = "DATABASE_UNREACHABLE INVALID_PURPOSE";
  expect(await sessionsOf(urls)).toEqual([refused, refused]);
  const opening = openDatabase(new Secret(urls[0]!), { max: 1, applicationName: "opsctl test" });
  const error = await opening.catch((thrown: unknown) => thrown);
  expect((error as OpsError).message).toBe(
    "Cannot connect to the database: the connection failed with INVALID_PURPOSE because the server's certificate is " +
      "not one for servers, or what signed it is no authority",
  );
});

test("the compiled binary verifies certificates by default, says what to write, and follows sslmode", async () => {
  await tls.show("unspecified");
  const status = (query: string, more = {}) =>
    opsctl(["migrate", "--status", "--json"], {
      env: { DATABASE_URL: urlAt("0.0.0.0", query), ...NO_CHECKS, ...more },
    });
  const refused = await status("");
  expect(refused.exitCode).toBe(3);
  expect(refused.json.error).toMatchObject({ code: "DATABASE_UNREACHABLE" });
  const said = refused.stderr + refused.stdout;
  expect(said).toContain("the server's certificate is not trusted here");
  expect(said).toMatch(/sslmode.*sslrootcert/);
  expect(said).not.toContain(PASSWORD);
  const DATABASE_URL = urlAt("0.0.0.0", "");
  const doctor = await opsctl(["doctor", "migrate", "--json"], { env: { DATABASE_URL } });
  expect(doctor.exitCode).toBe(3);
  expect(doctor.json.findings).toContainEqual(
    expect.objectContaining({
      check: "database",
      code: "DATABASE_UNREACHABLE",
      fix: { text: expect.stringMatching(/sslmode=verify-full.*DATABASE_URL.*sslrootcert=/), command: null },
    }),
  );
  // An authority that the operator gave the runtime counts like a public one.
  const extra = { NODE_EXTRA_CA_CERTS: join(tls.folder, "authority.pem") };
  const connected = [await status(ROOT), await status("", extra), await status("sslmode=require")];
  for (const { json } of connected)
    expect(json).toMatchObject({ error: null, migrations: expect.anything() });
});

test("every authority that the runtime trusts may sign for the name alone, with sslmode=verify-ca too", async () => {
  const extra = { NODE_EXTRA_CA_CERTS: join(tls.folder, "authority.pem") };
  const status = async (sslmode: string) => {
    const DATABASE_URL = urlAt("localhost", `sslmode=${sslmode}`);
    return (await opsctl(["migrate", "--status", "--json"], { env: { DATABASE_URL, ...extra } })).json.error;
  };
  await tls.show("anotherName");
  const refused = { message: expect.stringContaining("is for another name than the host in DATABASE_URL") };
  expect(await Promise.all(["verify-full", "verify-ca", "require"].map(status))).toEqual([
    expect.objectContaining(refused),
    expect.objectContaining(refused),
    null,
  ]);
  await tls.show("localhost");
  expect(await Promise.all(["verify-full", "verify-ca"].map(status))).toEqual([null, null]);
});

describe("a server without TLS", () => {
  const MODES = ["prefer", "allow", "disable"];
  const REFUSED = "DATABASE_UNREACHABLE TLS_REFUSED";

  test("is used only where the URL allows it, and on this host", async () => {
    const server = await sharedPostgres();
    const at = (host: string, query: string) => urlAt(host, query, server);
    expect(await sessionsOf(MODES.map((mode) => at("0.0.0.0", `sslmode=${mode}`)))).toEqual(
      MODES.map(() => "plain"),
    );
    const others = ["", "sslmode=require", `sslmode=verify-ca&${ROOT}`, "sslmode=verify-full"];
    expect(await sessionsOf(others.map((query) => at("0.0.0.0", query)))).toEqual(others.map(() => REFUSED));
    expect(await sessionsOf([at("127.0.0.1", ""), at("LOCALHOST", "")])).toEqual(["plain", "plain"]);
  });

  test("a server whose TLS is stripped in between gets nothing of the login", async () => {
    const seen: Buffer[] = [];
    await using between = await listen((socket) => {
      socket.on("data", (bytes: Buffer) => {
        seen.push(bytes);
        socket.write("N");
      });
    });
    const url = `postgres://someone:${PASSWORD}@0.0.0.0:${between.port}/app`;
    expect(await sessionsOf([url, `${url}?sslmode=require`])).toEqual([REFUSED, REFUSED]);
    expect(Buffer.concat(seen).toString("hex")).toBe("0000000804d2162f".repeat(2));
  });

  test("a server that adds something to its answer about TLS is refused: what comes before TLS proves nothing", async () => {
    for (const answer of ["SE", "NE"]) {
      await using stuffing = await listen((socket) => {
        socket.once("data", () => socket.write(answer));
      });
      const urls = ["require", "prefer"].map(
        (mode) => `postgres://u@127.0.0.1:${stuffing.port}/d?sslmode=${mode}`,
      );
      expect(await sessionsOf(urls)).toEqual([REFUSED, REFUSED]);
    }
  });

  test("a server that offers TLS and then breaks the connection ends nothing but the attempt, and at once", async () => {
    await using rude = await listen((socket) => {
      socket.once("data", () => socket.write("S", () => socket.resetAndDestroy()));
    });
    const url = `postgres://u@127.0.0.1:${rude.port}/d?sslmode=verify-full&sslrootcert=${tls.folder}/authority.pem`;
    for (let round = 0; round < 5; round++)
      for (const outcome of await sessionsOf(Array.from({ length: 8 }, () => url)))
        expect(outcome).toMatch(/^DATABASE_UNREACHABLE (CONNECTION_CLOSED|ECONNRESET)$/);
  });
});

test("the TLS handshake names the host of the URL, as hosted servers need it, and no address", async () => {
  const hellos: string[] = [];
  await using server = await listen((socket) => {
    socket.once("data", () => {
      socket.write("S");
      socket.once("data", (hello: Buffer) => {
        hellos.push(hello.toString("latin1"));
        socket.destroy();
      });
    });
  });
  const urls = ["localhost", "127.0.0.1"].map(
    (host) => `postgres://u@${host}:${server.port}/d?sslmode=require`,
  );
  for (const url of urls) expect(await sessionsOf([url])).toEqual([expect.stringContaining("UNREACHABLE")]);
  expect(hellos.map((hello) => hello.includes("localhost"))).toEqual([true, false]);
  expect(hellos.filter((hello) => hello.includes("127.0.0.1"))).toEqual([]);
});

test("openDatabase() names sslmode and sslrootcert wherever they decide", async () => {
  await tls.show("localhost");
  for (const [host, query] of [
    ["0.0.0.0", ""],
    ["127.0.0.1", `sslmode=verify-full&${ROOT}`],
    ["localhost", "sslrootcert=/nonexistent"],
  ] as const) {
    const opening = openDatabase(new Secret(urlAt(host, query)), { max: 1, applicationName: "opsctl test" });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OpsError);
    const { hint = "" } = error as OpsError;
    expect(hint).toContain("sslmode=");
    expect(hint).toContain("sslrootcert");
  }
});
