import { describe, expect, test } from "bun:test";
import { OpsError } from "../../../lib/platform/errors.ts";
import { faultOf, shownError } from "../../support/database-fault.ts";

function server(code: string, message = "canary message", more = {}): Error {
  return Object.assign(new Error(message), { severity: "ERROR", code, ...more });
}

function driver(code: string): Error {
  return Object.assign(new Error(`write ${code} canary-host:5432`), { code });
}

describe("a failure of a statement", () => {
  test.each([
    ["28P01", "DATABASE_AUTH_FAILED", false],
    ["28000", "DATABASE_AUTH_FAILED", false],
    ["3D000", "DATABASE_NOT_FOUND", false],
    ["57P03", "DATABASE_UNREACHABLE", true],
    ["57P01", "DATABASE_LOST", true],
    ["57P02", "DATABASE_LOST", true],
    ["08003", "DATABASE_LOST", true],
    ["08006", "DATABASE_LOST", true],
    ["53300", "DATABASE_BUSY", true],
    ["40001", "DATABASE_BUSY", true],
    ["40P01", "DATABASE_BUSY", true],
    ["55P03", "DATABASE_BUSY", true],
    ["57014", "DATABASE_TIMEOUT", true],
    ["42501", "DATABASE_PERMISSION_DENIED", false],
    ["25006", "DATABASE_READ_ONLY", true],
    ["42P01", "DATABASE_OBJECT_MISSING", false],
    ["42883", "DATABASE_OBJECT_MISSING", false],
    ["23505", "DATABASE_QUERY_FAILED", false],
    ["P0001", "DATABASE_QUERY_FAILED", false],
    ["OW001", "DATABASE_QUERY_FAILED", false],
  ] as const)("SQLSTATE %s is %s", (sqlState, code, transient) => {
    expect(faultOf(server(sqlState))).toEqual({ code, sqlState, transient });
  });

  test.each([
    ["08P01", "no more connections allowed (max_client_conn)", "DATABASE_LOST", true],
    ["08P01", "server login has been failing, try again later (server_login_retry)", "DATABASE_LOST", true],
    ["53300", "no more connections allowed (max_client_conn)", "DATABASE_BUSY", true],
    ["28P01", "password authentication failed", "DATABASE_AUTH_FAILED", false],
  ] as const)("PgBouncer's own %s, %s, is %s", (sqlState, message, code, transient) => {
    // As the driver names the fields that it sends: the severity in the server's language, and no other.
    const own = Object.assign(new Error(message), { severity_local: "FATAL", code: sqlState });
    expect(faultOf(own)).toEqual({ code, sqlState, transient });
  });

  test.each([
    ["ECONNREFUSED", "DATABASE_UNREACHABLE", true],
    ["ENOTFOUND", "DATABASE_UNREACHABLE", true],
    ["CONNECT_TIMEOUT", "DATABASE_UNREACHABLE", true],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "DATABASE_UNREACHABLE", true],
    ["STATEMENT_TIMEOUT", "DATABASE_TIMEOUT", true],
    ["CONNECTION_CLOSED", "DATABASE_LOST", true],
    ["CONNECTION_DESTROYED", "DATABASE_LOST", true],
    ["ECONNRESET", "DATABASE_LOST", true],
    ["UNSAFE_TRANSACTION", "DATABASE_QUERY_FAILED", false],
  ] as const)("the driver's %s is %s", (raw, code, transient) => {
    expect(faultOf(driver(raw))).toEqual({ code, sqlState: undefined, transient });
  });

  test("knows an error that was shown before", () => {
    expect(faultOf(shownError(driver("ECONNRESET"), "x"))).toMatchObject({
      code: "DATABASE_LOST",
    });
  });

  test("takes anything for a failed query", () => {
    for (const odd of [undefined, null, "text", 1, {}, new Error("x"), { code: 5 }])
      expect(faultOf(odd).code).toBe("DATABASE_QUERY_FAILED");
  });
});

describe("the error that people see", () => {
  test("says what was tried and the SQLSTATE, and names objects of the schema", () => {
    const error = shownError(server("42P01", 'relation "reports" does not exist'), "list the scopes");
    expect(error.message).toBe(
      'Cannot list the scopes: the database answered SQLSTATE 42P01, relation "reports" does not exist',
    );
    expect(error.hint).toContain("opsctl migrate");
  });

  test("quotes nothing that can contain a row's or a parameter's value", () => {
    const parts = {
      detail: "Key (email)=(canary) exists",
      query: "select canary",
      parameters: ["canary"],
      where: "canary",
    };
    for (const code of ["22P02", "22001", "XX000", "23505"]) {
      const message = code === "23505" ? "duplicate key value violates unique constraint" : "canary message";
      const { message: shown, hint, cause } = shownError(server(code, message, parts), "persist");
      expect(`${shown} ${hint} ${cause}`).not.toContain("canary");
    }
  });

  test("names no host, and nothing of the URL", () => {
    expect(shownError(driver("ECONNREFUSED"), "connect").message).toBe(
      "Cannot connect: the connection failed with ECONNREFUSED",
    );
  });

  test("a fault while opening that is not the login's or the database's fault is unreachable", () => {
    const opening = { isOpening: true };
    expect(shownError(server("42704"), "connect", opening).code).toBe("DATABASE_UNREACHABLE");
    expect(shownError(server("28P01"), "connect", opening).code).toBe("DATABASE_AUTH_FAILED");
    expect(shownError(driver("CONNECTION_CLOSED"), "connect", opening).code).toBe("DATABASE_UNREACHABLE");
  });

  test("lets an OpsError through", () => {
    const error = new OpsError({ code: "X", message: "x" });
    expect(shownError(error, "y")).toBe(error);
  });
});
