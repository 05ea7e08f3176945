import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { clearTextAnswer } from "../../../lib/platform/database/clear-text-password.ts";
import { opsctl } from "../../e2e/support/opsctl.ts";
import { type Asking, type AskingPostgres, startAskingPostgres } from "../../standins/asking-postgres.ts";
import { denoCache } from "../../support/deno-cache.ts";
import { PASSWORD } from "../../support/postgres.ts";
import { loginAt } from "../support/login-probe.ts";
import { startTlsPostgres, type TlsPostgres } from "../support/tls-postgres.ts";

const root = join(import.meta.dirname, "../../..");
const user = "report";
const REFUSED = "DATABASE_AUTH_FAILED CLEAR_TEXT_PASSWORD";

/** An address of this machine that is no loopback address: as good as another host. */
const elsewhere = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
const notTried = elsewhere === undefined ? " (not tried: this machine has loopback addresses only)" : "";

async function underDeno(urls: readonly string[]): Promise<string[]> {
  const probe = join(import.meta.dirname, "../support/login-probe.ts");
  const env = { PATH: process.env.PATH, HOME: tmpdir(), DENO_DIR: denoCache(), DENO_NO_UPDATE_CHECK: "1" };
  const deno = join(root, "node_modules/deno/deno");
  const { stdout } = await promisify(execFile)(deno, ["run", "-A", probe, JSON.stringify(urls)], { env });
  return JSON.parse(stdout);
}

/** What a login gets from a server that asks like this, in this process, under Deno, and the server's ledger. */
async function askedBy(host: string, asking: Asking, query: string) {
  const server = await startAskingPostgres({ host, asking, user, password: PASSWORD });
  try {
    const url = `postgres://${user}:${PASSWORD}@${host}:${server.port}/app?${query}`;
    const outcomes = [await loginAt(url), ...(await underDeno([url]))];
    return { outcomes, logins: server.logins, heard: heardBy(server) };
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
      test.skipIf(elsewhere === undefined)(
        `that asks for the password gets none: ${asking}, sslmode=${sslmode}${notTried}`,
        async () => {
          expect(await askedBy(tried, asking, `sslmode=${sslmode}`)).toEqual({
            outcomes: [REFUSED, REFUSED],
            logins: 0,
            heard: "nothing of it",
          });
        },
      );

  test.skipIf(elsewhere === undefined)(
    `does not even hear of the login unless the URL says so${notTried}`,
    async () => {
      const refused = "DATABASE_UNREACHABLE TLS_REFUSED";
      expect(await askedBy(tried, "clear text", "")).toEqual({
        outcomes: [refused, refused],
        logins: 0,
        heard: "no login",
      });
    },
  );

  test.skipIf(elsewhere === undefined)(`that asks by a challenge gets its answer${notTried}`, async () => {
    expect(await askedBy(tried, "md5", "sslmode=disable")).toEqual({
      outcomes: ["logged in", "logged in"],
      logins: 2,
      heard: "nothing of it",
    });
  });

  test.skipIf(elsewhere === undefined)(
    `is refused by the compiled binary, which says what to write${notTried}`,
    async () => {
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
    },
  );
});

test("a server on loopback that asks for the password in clear text gets it", async () => {
  expect(await askedBy("127.0.0.1", "clear text", "")).toEqual({
    outcomes: ["logged in", "logged in"],
    logins: 2,
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

  test(`gets one over TLS, over loopback and through a socket, and none otherwise${notTried}`, async () => {
    const expected: [url: string, outcome: string][] = [
      [at("127.0.0.1", ""), "logged in"],
      [at(encodeURIComponent(folder), ""), "logged in"],
      [at(encodeURIComponent(folder), "sslmode=verify-full"), "logged in"],
      [
        `postgres:///postgres?host=${folder}&port=${tls.server.port}&user=postgres&password=${PASSWORD}`,
        "logged in",
      ],
      [at("127.0.0.1", "sslmode=require"), "logged in"],
    ];
    if (elsewhere !== undefined)
      expected.push(
        [at(elsewhere, "sslmode=require"), "logged in"],
        [at(elsewhere, "sslmode=disable"), REFUSED],
      );
    const urls = expected.map(([url]) => url);
    expect(await Promise.all(urls.map(loginAt))).toEqual(expected.map(([, outcome]) => outcome));
    expect(await underDeno(urls)).toEqual(expected.map(([, outcome]) => outcome));
  });
});

describe("clearTextAnswer()", () => {
  test("is the message as the protocol has it, in UTF-8, and null for no password", () => {
    expect(Buffer.from(clearTextAnswer("pä")!).toString("hex")).toBe("70000000087" + "0c3a400");
    expect(clearTextAnswer("")).toBeNull();
  });
});
