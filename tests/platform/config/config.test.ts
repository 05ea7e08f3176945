import { describe, expect, test } from "bun:test";
import {
  absolutePath,
  exactlyOne,
  httpBaseUrl,
  loadConfig,
  optional,
  optionalSecret,
  positiveInteger,
  positiveMultipleOfThree,
  postgresUrl,
  type Rule,
  required,
  requiredSecret,
  uuid,
} from "../../../lib/platform/config/config.ts";
import { OpsError } from "../../../lib/platform/errors.ts";

const NO_FILES = { OPSCTL_SECRETS_DIR: "/nonexistent" };

async function accepted<T>(rule: Rule<T>, value: string, env: Record<string, string> = {}): Promise<T> {
  const { X } = await loadConfig({ X: required(rule) }, { ...NO_FILES, ...env, X: value });
  return X;
}

async function problemsOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpsError);
  expect(error).toMatchObject({ code: "CONFIG_INVALID" });
  return (error as OpsError).message;
}

describe("loadConfig()", () => {
  test("reports every problem at once, a line each with name, fault, expectation and example", async () => {
    const variables = {
      A_URL: required(httpBaseUrl),
      B_ID: required(uuid),
      C_COUNT: optional(positiveInteger),
      D_SECRET: requiredSecret(),
      E_PATH: optional(absolutePath, "/fine"),
    };
    const message = await problemsOf(loadConfig(variables, { ...NO_FILES, A_URL: "nope", C_COUNT: "0" }));
    const lines = message.split("\n");
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe("Cannot start: 4 settings are missing or invalid");
    expect(lines[1]).toMatch(/^ {2}A_URL: is not an http or https URL; expected .*, such as https:\/\//);
    expect(lines[2]).toMatch(/^ {2}B_ID: is missing; expected a UUID, such as /);
    expect(lines[3]).toMatch(/^ {2}C_COUNT: is not a positive whole number; expected /);
    expect(lines[4]).toMatch(/^ {2}D_SECRET: is missing; /);
  });

  test("counts an empty or blank variable as absent", async () => {
    const variables = { A: optional(positiveInteger, 7), B: optional(uuid), S: optionalSecret() };
    expect(await loadConfig(variables, { ...NO_FILES, A: "", B: " \t", S: " " })).toEqual({
      A: 7,
      B: undefined,
      S: undefined,
    });
    const message = await problemsOf(loadConfig({ A: required(uuid) }, { ...NO_FILES, A: "  " }));
    expect(message).toContain("A: is missing");
  });

  test("keeps secrets closed, and checks them by their rule", async () => {
    const env = { ...NO_FILES, URL_SECRET: "postgres://u:canary-one@db/app", PLAIN_SECRET: "canary-two" };
    const values = await loadConfig(
      { URL_SECRET: requiredSecret(postgresUrl), PLAIN_SECRET: requiredSecret() },
      env,
    );
    expect(JSON.stringify(values)).toBe('{"URL_SECRET":"<secret>","PLAIN_SECRET":"<secret>"}');
    expect(values.URL_SECRET.open()).toBe("postgres://u:canary-one@db/app");
  });

  test("collects a secret's own failure in the same report, with its own advice", async () => {
    const env = { OPSCTL_SECRETS_DIR: "/nonexistent", OPSCTL_SECRETS_COMMAND: "/nonexistent", B: "x" };
    const byHand = expect.stringMatching(/^Run the command by hand, /);
    await expect(loadConfig({ A: requiredSecret() }, env)).rejects.toMatchObject({ hint: byHand });
    await expect(loadConfig({ A: requiredSecret(), B: required(uuid) }, env)).rejects.toMatchObject({
      message: expect.stringMatching(
        /A: Cannot read secret A .*\(SECRET_COMMAND_FAILED\)\n {2}B: is not a UUID/,
      ),
      hint: expect.stringMatching(/^Set it in the environment\nRun the command by hand, /),
    });
  });

  test("quotes no value, whichever rule refuses it", async () => {
    const rules: Record<string, Rule<unknown>> = {
      absolutePath,
      httpBaseUrl,
      positiveInteger,
      positiveMultipleOfThree,
      postgresUrl,
      uuid,
    };
    const values = [
      "canary-plain",
      "ftp://canary@host",
      "https://canary:canary@host",
      "https://canary.example?canary=1",
      "http://canary.example",
      "postgres://canary:%zz@canary",
      "postgres://u:canary@h/d?sslmode=canary",
      "postgres://u:canary@h1,h2/canary?sslcert=canary",
      `https://canary.example/${"canary".repeat(100)}`,
    ];
    for (const [name, rule] of Object.entries(rules)) {
      for (const value of values) {
        const variables = { [name]: required(rule), SECRET_ONE: requiredSecret(rule as Rule<string>) };
        const failed = loadConfig(variables, { ...NO_FILES, [name]: value, SECRET_ONE: value });
        const error = await failed.then(
          () => undefined,
          (thrown: OpsError) => thrown,
        );
        expect(`${error?.message} ${error?.hint}`).not.toContain("canary");
      }
    }
  });
});

describe("httpBaseUrl", () => {
  test.each([
    ["https://app.example.com", "https://app.example.com"],
    ["https://app.example.com/", "https://app.example.com"],
    ["https://app.example.com/base/", "https://app.example.com/base"],
    ["https://app.example.com/base//", "https://app.example.com/base"],
    ["HTTPS://App.Example.com:8443/B", "https://app.example.com:8443/B"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000"],
    ["http://localhost:3000/", "http://localhost:3000"],
    ["http://[::1]:3000", "http://[::1]:3000"],
    ["http://[::ffff:127.0.0.1]:3000", "http://[::ffff:7f00:1]:3000"],
  ])("accepts %s", async (value, expected) => {
    expect(await accepted(httpBaseUrl, value)).toBe(expected);
  });

  test.each([
    ["app.example.com", "is not an http or https URL"],
    ["ftp://app.example.com", "is not an http or https URL"],
    ["https:app.example.com", "is not an http or https URL"],
    ["javascript:alert(1)", "is not an http or https URL"],
    [" https://app.example.com", "is not an http or https URL"],
    ["https://", "is not an http or https URL"],
    ["https://user@app.example.com", "carries a user name or a password"],
    ["https://app.example.com?x=1", "carries a query or a fragment"],
    ["https://app.example.com?", "carries a query or a fragment"],
    ["https://app.example.com#x", "carries a query or a fragment"],
    [`https://app.example.com/${"x".repeat(400)}`, "is longer than 400 characters"],
    ["http://app.example.com", "would send a secret unencrypted"],
    ["http://127.0.0.1.example.com", "would send a secret unencrypted"],
    ["http://localhost.example.com", "would send a secret unencrypted"],
  ])("refuses %s", async (value, problem) => {
    expect(await problemsOf(accepted(httpBaseUrl, value))).toContain(`X: ${problem}`);
  });

  test("accepts plain http elsewhere only with OPSCTL_ALLOW_PLAIN_HTTP=1", async () => {
    const value = "http://gateway.internal:8080";
    expect(await accepted(httpBaseUrl, value, { OPSCTL_ALLOW_PLAIN_HTTP: "1" })).toBe(value);
    for (const other of ["true", "0", "yes", " 1"])
      await problemsOf(accepted(httpBaseUrl, value, { OPSCTL_ALLOW_PLAIN_HTTP: other }));
  });
});

describe("postgresUrl", () => {
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
    ["postgres://u@ /db", "is not a valid postgres:// URL"],
  ])("says what is wrong with %s without quoting it", async (value, problem) => {
    const message = await problemsOf(accepted(postgresUrl, value));
    expect(message).toContain(`X: ${problem}`);
    expect(message).not.toContain("canary");
  });

  test.each([
    "postgresql://",
    "postgres://us%40er:p%40ss%2Fw%3A%25@db.example.com:65535/my%20db",
    "postgres://u@%2Fvar%2Frun%2Fpostgresql/db",
    "postgres://u:p%40@:5433/db?host=/run/pg",
    "postgresql://u@?host=%2Frun%2Fpg&port=1&dbname=db",
  ])("takes %s as libpq does", async (value) => {
    expect(await accepted(postgresUrl, value)).toBe(value);
  });
});

describe("the other rules", () => {
  test("uuid takes either case and answers lower case", async () => {
    const value = "3F2B8C1E-5D47-4A90-9C36-0E1F2A3B4C5D";
    expect(await accepted(uuid, value)).toBe(value.toLowerCase());
    for (const bad of [`${value}0`, `{${value}}`, value.replaceAll("-", ""), ` ${value}`])
      await problemsOf(accepted(uuid, bad));
  });

  test("positiveInteger takes digits alone", async () => {
    expect(await accepted(positiveInteger, "20")).toBe(20);
    for (const bad of ["0", "-1", "+3", "3.0", "3e1", "0x10", " 3", "٣", "99999999999999999999"])
      await problemsOf(accepted(positiveInteger, bad));
  });

  test("positiveMultipleOfThree", async () => {
    expect(await accepted(positiveMultipleOfThree, "3")).toBe(3);
    expect(await accepted(positiveMultipleOfThree, "300")).toBe(300);
    for (const bad of ["0", "1", "31", "-3", "+3", "3.0", "3e1", ""].filter(Boolean))
      await problemsOf(accepted(positiveMultipleOfThree, bad));
  });

  test("exactlyOne is on for 1 and for nothing else", async () => {
    expect(await accepted(exactlyOne, "1")).toBe(true);
    for (const other of ["true", "01", " 1", "1 ", "on", "2", "1.0"])
      expect(await accepted(exactlyOne, other)).toBe(false);
  });

  test("absolutePath", async () => {
    expect(await accepted(absolutePath, "/var/log/opsctl")).toBe("/var/log/opsctl");
    for (const bad of ["var/log", "./x", "~/x"]) await problemsOf(accepted(absolutePath, bad));
  });
});
