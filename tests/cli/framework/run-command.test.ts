import { describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { opsctl, startProgram } from "../../e2e/support/opsctl.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PROGRAM = join(import.meta.dirname, "../support/command-program.ts");
const COMMAND = [process.execPath, PROGRAM];
const ENV = { PATH: process.env.PATH, HOME: "/tmp" };

describe("runCommand()", () => {
  const run = (mode: string, args: string[], env = {}) =>
    startProgram([...COMMAND, mode, ...args], { env: { ...ENV, ...env }, cwd: ROOT }).ended;

  test("prints one line of JSON, with secrets and addresses masked", async () => {
    const { exitCode, json, stderr } = await run("ok", ["--json"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const fields = { filler: "x", secret: "<secret>", mail: "m***@example.com" };
    expect(json).toEqual({ command: "test", status: "success", exitCode: 0, ...fields, error: null });
  });

  test("prints the text for people without --json", async () => {
    expect(await run("ok", [])).toMatchObject({ exitCode: 0, stdout: "done <secret>\n" });
  });

  test("writes a large result whole before it ends", async () => {
    const { exitCode, json } = await run("large", ["--json"]);
    expect(exitCode).toBe(0);
    expect((json.filler as string).length).toBe(3_000_000);
  });

  test("takes the exit status of the outcome", async () => {
    expect((await run("failing", ["--json"])).exitCode).toBe(1);
  });

  test("turns an OpsError into its status, one line of JSON and one line of log", async () => {
    const { exitCode, json, stderr } = await run("opsError", ["--json"]);
    expect(exitCode).toBe(3);
    const error = { code: "CONFIG_INVALID", message: "bad <secret>", hint: "mend it" };
    expect(json).toEqual({ command: "test", status: "not_ready", exitCode: 3, error });
    expect(stderr).toMatch(/^[0-9:]{8} error bad <secret> code=CONFIG_INVALID\n {2}-> mend it\n$/);
  });

  const jsonLog = { level: "error", msg: "bad <secret>", code: "CONFIG_INVALID", hint: "mend it" };

  test.each([
    ["of a person's command is text without a terminal", [], {}, null],
    ["of an unattended command is JSON without a terminal", [], { UNATTENDED: "1" }, jsonLog],
    ["is JSON where it is asked for", ["--log-format=json"], {}, jsonLog],
    ["is text where it is asked for", ["--log-format=text"], { UNATTENDED: "1" }, null],
  ])("the log %s", async (_name, args, env, expected) => {
    const { stderr } = await run("opsError", args, env);
    if (expected === null) expect(stderr).toContain(" error bad <secret> code=CONFIG_INVALID\n");
    else expect(JSON.parse(stderr)).toMatchObject(expected);
  });

  test.each(["unexpected", "unhandledRejection", "uncaughtException"])(
    "reports %s as INTERNAL_ERROR, without stack trace and without secret",
    async (mode) => {
      const { exitCode, json, stderr, stdout } = await run(mode, ["--json"]);
      expect(exitCode).toBe(1);
      expect(json).toMatchObject({
        status: "failed",
        exitCode: 1,
        error: { code: "INTERNAL_ERROR", message: expect.stringContaining("TypeError: boom <secret>") },
      });
      expect(stdout + stderr).not.toContain("canary");
      expect(stderr).not.toContain("command-program");
      const debugged = await run(mode, ["--json"], { OPSCTL_LOG_LEVEL: "debug" });
      expect(debugged.stderr).toContain("command-program");
      expect(debugged.stderr).not.toContain("canary");
    },
  );

  test.each([
    ["quotingSchema", "INTERNAL_ERROR", ""],
    ["quotingJson", "INTERNAL_ERROR", ""],
    ["quotingText", "INTERNAL_ERROR", ""],
    ["systemError", "INTERNAL_ERROR", "unexpected Error: ENOSPC: no space left on device, write"],
    ["missingFile", "INTERNAL_ERROR", "ENOENT"],
    ["lostDatabase", "DATABASE_LOST", "CONNECTION_CLOSED"],
  ])("reports what was thrown as %s: %s, without the data that it may quote", async (mode, code, said) => {
    const { exitCode, json, stdout, stderr } = await run(mode, ["--json"]);
    expect(exitCode).toBe(1);
    expect(json.error).toMatchObject({ code, message: expect.stringContaining(said) });
    expect(stdout + stderr).not.toContain("canary");
  });

  test("keeps to one line of JSON when something crashes after the result, and fails", async () => {
    const { exitCode, json, stderr } = await run("crashAfterResult", ["--json"]);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ filler: "x" });
    expect(stderr).toContain("INTERNAL_ERROR");
  });

  test("says that OPSCTL_LOG_LEVEL is not a level, and goes on", async () => {
    const { exitCode, stderr } = await run("ok", [], { OPSCTL_LOG_LEVEL: "loud" });
    expect(exitCode).toBe(0);
    expect(stderr).toContain("OPSCTL_LOG_LEVEL");
  });

  test("fails when the result cannot be written, and says so", async () => {
    const full = openSync("/dev/full", "w");
    try {
      const { ended } = startProgram([...COMMAND, "ok", "--json"], { env: ENV, cwd: ROOT, stdout: full });
      const { exitCode, stderr } = await ended;
      expect(exitCode).toBe(1);
      expect(stderr).toContain("OUTPUT_FAILED");
    } finally {
      closeSync(full);
    }
  });

  test("does not fail when its reader has closed the pipe", async () => {
    const script = 'set -o pipefail; "$@" large --json | head -c 10 >/dev/null';
    const { ended } = startProgram(["bash", "-c", script, "bash", ...COMMAND], { env: ENV, cwd: ROOT });
    expect(await ended).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("works with standard error closed or full", async () => {
    for (const redirection of ["2>&-", "2>/dev/full"]) {
      const script = `"$@" opsError --json ${redirection}`;
      const { ended } = startProgram(["bash", "-c", script, "bash", ...COMMAND], { env: ENV, cwd: ROOT });
      const { exitCode, json } = await ended;
      expect(exitCode).toBe(3);
      expect(json).toMatchObject({ error: { code: "CONFIG_INVALID" } });
    }
  });
});

test("a closed standard output is a failure, and /dev/null is none", async () => {
  const run = (redirection: string) =>
    startProgram(["bash", "-c", `"$@" ok --json ${redirection}`, "bash", ...COMMAND], { env: ENV, cwd: ROOT })
      .ended;
  const closed = await run(">&-");
  expect(closed.exitCode).toBe(1);
  expect(closed.stderr).toContain("it is closed");
  for (const open of [">/dev/null", "1<>/dev/null", "| cat >/dev/null"])
    expect((await run(open)).exitCode).toBe(0);
});

describe("a command that cannot start", () => {
  const env = {
    OPSCTL_SECRETS_DIR: "/nonexistent",
    APP_BASE_URL: "https://u:canary@h",
    TRIGGER_SECRET: "canary",
  };

  test.each([
    [["migrate", "--json"], "migrate"],
    [["deliveries", "list", "--json"], "deliveries list"],
    [["deliveries", "show", "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d", "--json"], "deliveries show"],
  ])("%j prints one line of JSON with error code and hint", async (args, name) => {
    const { exitCode, json, stdout, stderr } = await opsctl(args, { env });
    expect(exitCode).toBe(3);
    expect(json).toMatchObject({
      command: name,
      status: "not_ready",
      exitCode: 3,
      error: { code: "CONFIG_INVALID", message: expect.stringContaining("DATABASE_URL: is missing") },
    });
    expect(stdout + stderr).not.toContain("canary");
  });
});
