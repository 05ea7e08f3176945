import { describe, expect, test } from "bun:test";
import { loadSettings } from "../../../lib/platform/config/load.ts";
import type { SettingName } from "../../../lib/platform/config/settings-table.ts";
import { OpsError } from "../../../lib/platform/errors.ts";
import type { Secret } from "../../../lib/platform/secrets/secret.ts";

const NO_FILES = { OPSCTL_SECRETS_DIR: "/nonexistent", OPSCTL_ENV_DIR: "" };

async function accepted(
  name: SettingName,
  value: string,
  env: Record<string, string> = {},
): Promise<unknown> {
  const values = await loadSettings("weekly", { required: [name] }, { ...NO_FILES, ...env, [name]: value });
  return values[name];
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

describe("loadSettings()", () => {
  test("reports every problem at once, a line each with name, fault, expectation and example, a secret with its command", async () => {
    const wanted = {
      required: ["APP_BASE_URL", "WHATSAPP_REPORT_SENDER_TENANT_ID", "TRIGGER_SECRET"],
      optional: ["WHATSAPP_REPORT_MESSAGES_PER_MINUTE", "OPSCTL_LOG_DIR"],
    } as const;
    const env = { ...NO_FILES, APP_BASE_URL: "nope", WHATSAPP_REPORT_MESSAGES_PER_MINUTE: "0" };
    const lines = (await problemsOf(loadSettings("weekly", wanted, env))).split("\n");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe("Cannot start: 4 settings are missing or invalid");
    expect(lines[1]).toMatch(
      /^ {2}APP_BASE_URL: is not an http or https URL; expected .*, such as https:\/\//,
    );
    expect(lines[2]).toMatch(/^ {2}WHATSAPP_REPORT_SENDER_TENANT_ID: is missing; expected a UUID, such as /);
    expect(lines[3]).toMatch(/^ {2}TRIGGER_SECRET: is missing; .*; a secret:$/);
    expect(lines[4]).toBe("    opsctl secret set TRIGGER_SECRET");
    expect(lines[5]).toMatch(
      /^ {2}WHATSAPP_REPORT_MESSAGES_PER_MINUTE: is invalid; expected a positive whole number, /,
    );
  });

  test("counts an empty or blank value as absent: its default counts, or nothing", async () => {
    const names = ["HOSTING_PROJECTS", "HOSTING_TEAM_ID", "HOSTING_TOKEN"] as const;
    const env = { ...NO_FILES, HOSTING_PROJECTS: "", HOSTING_TEAM_ID: " \t", HOSTING_TOKEN: " " };
    expect(await loadSettings("collect-metrics", { optional: names }, env)).toEqual({
      HOSTING_PROJECTS: 16,
      HOSTING_TEAM_ID: undefined,
      HOSTING_TOKEN: undefined,
    });
    const required = ["APP_BASE_URL"] as const;
    const message = await problemsOf(
      loadSettings("weekly", { required }, { ...NO_FILES, APP_BASE_URL: "  " }),
    );
    expect(message).toContain("APP_BASE_URL: is missing");
  });

  test("keeps secrets closed, and checks them by their kind", async () => {
    const env = { ...NO_FILES, DATABASE_URL: "postgres://u:canary-one@db/app", TRIGGER_SECRET: "canary-two" };
    const values = await loadSettings("weekly", { required: ["DATABASE_URL", "TRIGGER_SECRET"] }, env);
    expect(JSON.stringify(values)).toBe('{"DATABASE_URL":"<secret>","TRIGGER_SECRET":"<secret>"}');
    expect(values.DATABASE_URL.open()).toBe("postgres://u:canary-one@db/app");
  });

  test("collects a secret's own failure in the same report, with its own advice", async () => {
    const env = {
      OPSCTL_SECRETS_DIR: "/nonexistent",
      OPSCTL_SECRETS_COMMAND: "/nonexistent",
      APP_BASE_URL: "x",
    };
    const byHand = expect.stringMatching(/^Run the command by hand, /);
    const alone = loadSettings("weekly", { required: ["TRIGGER_SECRET"] }, env);
    await expect(alone).rejects.toMatchObject({ hint: byHand });
    const both = loadSettings("weekly", { required: ["TRIGGER_SECRET", "APP_BASE_URL"] }, env);
    await expect(both).rejects.toMatchObject({
      message: expect.stringMatching(
        /TRIGGER_SECRET: Cannot read secret .*\(SECRET_COMMAND_FAILED\)\n {2}APP_BASE_URL: is not /,
      ),
      hint: expect.stringMatching(/^Set it in \/etc\/opsctl\/weekly.env\nRun the command by hand, /),
    });
  });

  test("names the file in which a setting belongs, or the environment where no file is read", async () => {
    const wanted = { required: ["MESSAGING_PHONE"] } as const;
    const hints = [{}, { OPSCTL_ENV_DIR: "/srv/env" }, { OPSCTL_ENV_DIR: "" }].map((env) =>
      loadSettings("socket-monitor", wanted, env).catch(({ hint }) => hint),
    );
    expect(await Promise.all(hints)).toEqual([
      "Set it in /etc/opsctl/webhook.env",
      "Set it in /srv/env/webhook.env",
      "Set it in the environment",
    ]);
  });

  test("quotes no value, whichever kind refuses it", async () => {
    const names = [
      ...(["OPSCTL_LOG_DIR", "APP_BASE_URL", "HOSTING_PROJECTS", "SOCIAL_EDITORIALS_MAX_LLM_CALLS"] as const),
      ...(["DATABASE_URL", "WHATSAPP_REPORT_SENDER_TENANT_ID", "OPSCTL_PING_URL", "DOCKER_HOST"] as const),
      ...(["ALERT_EMAIL_TO", "WEEKLY_REPORT_UNSUBSCRIBE", "MESSAGING_PHONE", "WEBHOOK_PORT"] as const),
    ];
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
    for (const name of names) {
      for (const value of values) {
        const error = await accepted(name, value).then(
          () => undefined,
          (thrown: OpsError) => thrown,
        );
        expect(`${error?.message} ${error?.hint}`).not.toContain("canary");
      }
    }
  });
});

describe("a URL", () => {
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
    expect(await accepted("APP_BASE_URL", value)).toBe(expected);
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
    expect(await problemsOf(accepted("APP_BASE_URL", value))).toContain(`APP_BASE_URL: ${problem}`);
  });

  test("accepts plain http elsewhere only with OPSCTL_ALLOW_PLAIN_HTTP=1", async () => {
    const value = "http://gateway.internal:8080";
    expect(await accepted("APP_BASE_URL", value, { OPSCTL_ALLOW_PLAIN_HTTP: "1" })).toBe(value);
    for (const other of ["true", "0", "yes", " 1"])
      await problemsOf(accepted("APP_BASE_URL", value, { OPSCTL_ALLOW_PLAIN_HTTP: other }));
  });
});

describe("the URL of a database", () => {
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
    const message = await problemsOf(accepted("DATABASE_URL", value));
    expect(message).toContain(`DATABASE_URL: ${problem}`);
    expect(message).not.toContain("canary");
  });

  test.each([
    "postgresql://",
    "postgres://us%40er:p%40ss%2Fw%3A%25@db.example.com:65535/my%20db",
    "postgres://u@%2Fvar%2Frun%2Fpostgresql/db",
    "postgres://u:p%40@:5433/db?host=/run/pg",
    "postgresql://u@?host=%2Frun%2Fpg&port=1&dbname=db",
  ])("takes %s as libpq does", async (value) => {
    expect(((await accepted("DATABASE_URL", value)) as Secret).open()).toBe(value);
  });
});

describe("the other kinds", () => {
  test("a UUID takes either case and answers lower case", async () => {
    const value = "3F2B8C1E-5D47-4A90-9C36-0E1F2A3B4C5D";
    expect(await accepted("WHATSAPP_REPORT_SENDER_TENANT_ID", value)).toBe(value.toLowerCase());
    for (const bad of [`${value}0`, `{${value}}`, value.replaceAll("-", ""), ` ${value}`])
      await problemsOf(accepted("WHATSAPP_REPORT_SENDER_TENANT_ID", bad));
  });

  test("a count takes digits alone", async () => {
    expect(await accepted("HOSTING_PROJECTS", "20")).toBe(20);
    for (const bad of ["0", "-1", "+3", "3.0", "3e1", "0x10", " 3", "٣", "99999999999999999999"])
      await problemsOf(accepted("HOSTING_PROJECTS", bad));
  });

  test("a multiple of three", async () => {
    expect(await accepted("SOCIAL_EDITORIALS_MAX_LLM_CALLS", "3")).toBe(3);
    expect(await accepted("SOCIAL_EDITORIALS_MAX_LLM_CALLS", "300")).toBe(300);
    for (const bad of ["0", "1", "31", "-3", "+3", "3.0", "3e1", ""].filter(Boolean))
      await problemsOf(accepted("SOCIAL_EDITORIALS_MAX_LLM_CALLS", bad));
  });

  test("a switch is on for 1 and for nothing else", async () => {
    expect(await accepted("SOCIAL_EDITORIALS_ENABLED", "1")).toBe(true);
    for (const other of ["true", "01", " 1", "1 ", "on", "2", "1.0"])
      expect(await accepted("SOCIAL_EDITORIALS_ENABLED", other)).toBe(false);
  });

  test("a path is absolute", async () => {
    expect(await accepted("OPSCTL_LOG_DIR", "/var/log/opsctl")).toBe("/var/log/opsctl");
    for (const bad of ["var/log", "./x", "~/x"]) await problemsOf(accepted("OPSCTL_LOG_DIR", bad));
  });
});
