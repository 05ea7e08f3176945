import { describe, expect, test } from "bun:test";
import { type DatabaseAddress, parseDatabaseUrl } from "../../../lib/platform/database/url.ts";

function parsed(text: string): DatabaseAddress {
  const address = parseDatabaseUrl(text);
  if (typeof address === "string") throw new Error(address);
  return address;
}

describe("parseDatabaseUrl()", () => {
  test("takes the URL apart and undoes percent-encoding", () => {
    expect(parsed("postgres://us%40er:p%40ss%2Fw%3A%25@db.example.com:6543/my%20db")).toEqual({
      host: "db.example.com",
      port: 6543,
      socketPath: undefined,
      user: "us@er",
      password: "p@ss/w:%",
      database: "my db",
      tls: "verify-full",
      rootCertificate: undefined,
      startup: {},
    });
  });

  test("has libpq's defaults where the URL says nothing", () => {
    expect(parsed("postgresql://")).toMatchObject({
      host: "localhost",
      port: 5432,
      user: undefined,
      password: "",
    });
  });

  test("knows Unix sockets and IPv6", () => {
    expect(parsed("postgres://u@%2Fvar%2Frun%2Fpostgresql/db").socketPath).toBe(
      "/var/run/postgresql/.s.PGSQL.5432",
    );
    expect(parsed("postgres:///db?host=/tmp&user=u").socketPath).toBe("/tmp/.s.PGSQL.5432");
    expect(parsed("postgres://u@[::1]:5433/db")).toMatchObject({ host: "::1", port: 5433 });
  });

  test("takes a login without a host before the query, as libpq does", () => {
    const expected = { socketPath: "/run/pg/.s.PGSQL.5433", user: "u", password: "p@/w", database: "db" };
    for (const url of [
      "postgres://u:p%40%2Fw@/db?host=/run/pg&port=5433",
      "postgres://u:p%40%2Fw@:5433/db?host=/run/pg",
      "postgresql://u:p%40%2Fw@?host=%2Frun%2Fpg&port=5433&dbname=db",
    ])
      expect(parsed(url)).toMatchObject(expected);
    expect(parsed("postgres://u@/db")).toMatchObject({ host: "localhost", database: "db" });
    expect(parseDatabaseUrl("postgres://u@ /db")).toBe("is not a valid postgres:// URL");
  });

  test("takes port and database from the query, too, and keeps them from the server's settings", () => {
    const address = parsed("postgres:///?host=/tmp&port=5433&dbname=my%20db&user=u&client_encoding=LATIN1");
    expect(address).toMatchObject({ socketPath: "/tmp/.s.PGSQL.5433", database: "my db", startup: {} });
    expect(parsed("postgres://h:1/d?port=2&dbname=e")).toMatchObject({ port: 2, database: "e", startup: {} });
    expect([parsed("postgres://h:1/d").port, parsed("postgres://h:1/d?port=65535").port]).toEqual([
      1, 65_535,
    ]);
  });

  test.each([
    ["postgres://db.example.com/d", "verify-full"],
    ["postgres://127.0.0.1/d", "disable"],
    ["postgres://localhost/d", "disable"],
    ["postgres://[::1]/d", "disable"],
    ["postgres://[::ffff:127.0.0.1]/d", "disable"],
    ["postgres:///d?host=/tmp", "disable"],
    ["postgres:///d?host=/tmp&sslmode=require", "disable"],
    ["postgres:///d?host=/tmp&sslmode=verify-full&sslrootcert=/ca.pem", "disable"],
    ["postgres://localhost/d?sslmode=require", "require"],
    ["postgres://db/d?sslmode=disable", "disable"],
    ["postgres://db/d?sslmode=allow", "prefer"],
    ["postgres://db/d?sslmode=verify-ca", "verify-ca"],
    ["postgres://db/d?sslmode=verify-full", "verify-full"],
    ["postgres://db/d?sslmode=require&sslrootcert=/ca.pem", "verify-ca"],
    ["postgres://db/d?sslrootcert=system", "verify-full"],
    ["postgres://db/d?ssl=true", "require"],
    ["postgres://db/d?ssl=require", "verify-full"],
    ["postgres://localhost/d?ssl=false", "disable"],
    ["postgres://localhost/d?ssl=0", "disable"],
    ["postgres://localhost/d?ssl=disable", "disable"],
    ["postgres://localhost/d?ssl=require&sslmode=require", "require"],
    ["postgres://db/d?sslmode=require&channel_binding=require", "verify-full"],
    ["postgres://db/d?sslmode=disable&channel_binding=require", "verify-full"],
    ["postgres://db/d?sslmode=verify-ca&channel_binding=require", "verify-ca"],
    ["postgres://db/d?sslmode=require&sslrootcert=/ca.pem&channel_binding=require", "verify-ca"],
    ["postgres://db/d?sslmode=require&channel_binding=prefer", "require"],
  ] as const)("%s is %s", (text, tls) => {
    expect(parsed(text).tls).toBe(tls);
  });

  test("keeps parameters of other clients to itself and hands settings to the server", () => {
    const query =
      "pgbouncer=true&channel_binding=prefer&connect_timeout=5&application_name=x&options=-c%20a%3Db&search_path=app";
    expect(parsed(`postgres://db/d?${query}`).startup).toEqual({ options: "-c a=b", search_path: "app" });
  });

  test.each([
    ["mysql://u:canary@h/d", "is not a postgres:// URL"],
    ["canary", "is not a postgres:// URL"],
    ["postgres:canary", "is not a postgres:// URL"],
    ["postgres://u:canary@h:port/d", "is not a valid postgres:// URL"],
    ["postgres://u:canary%zz@h/d", "is not a valid postgres:// URL"],
    ["postgres://u:canary@h1,h2/d", "names several hosts, where one is supported"],
    ["postgres://u:canary@h/d?host=h1,h2", "names several hosts, where one is supported"],
    ["postgres://u:canary@h/d?sslmode=canary", "has an sslmode that is not known"],
    ["postgres://u:canary@h/d?sslmode=REQUIRE", "has an sslmode that is not known"],
    ["postgres://u:canary@localhost/d?ssl=verify-full", "has an ssl that is not known"],
    ["postgres://u:canary@localhost/d?ssl=TRUE", "has an ssl that is not known"],
    [
      "postgres://u:canary@h/d?sslmode=require&channel_binding=REQUIRE",
      "has a value of channel_binding that is not supported",
    ],
    [
      "postgres://u:canary@h/d?sslmode=disable&gssencmode=require",
      "has a value of gssencmode that is not supported",
    ],
    ["postgres://u:canary@h:0/d", "has a port that is no number from 1 to 65535"],
    ["postgres://u:canary@h/d?port=65536", "has a port that is no number from 1 to 65535"],
    ["postgres://u:canary@h/d?port=x5432", "has a port that is no number from 1 to 65535"],
    ["postgres://u:canary@h/d?port=5432,5433", "has a port that is no number from 1 to 65535"],
    ["postgres://u:canary@h/d?sslcert=/canary", "has the parameter sslcert, which is not supported"],
    ["postgres://u@h/d?require_auth=scram-sha-256", "has the parameter require_auth, which is not supported"],
    [
      "postgres://u@h/d?scram_client_key=canary",
      "has the parameter scram_client_key, which is not supported",
    ],
  ])("says what is wrong with %s without quoting it", (text, problem) => {
    expect(parseDatabaseUrl(text)).toBe(problem);
  });
});
