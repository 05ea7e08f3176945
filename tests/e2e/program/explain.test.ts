/** The commands that tell of opsctl itself, on every runtime: they need no settings, and guess what was meant. */
import { describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { ENGINES, opsctl, startOpsctl } from "../support/opsctl.ts";

/** Settings that every other command would refuse. */
const BROKEN = { OPSCTL_ENV_DIR: "/dev/null", OPSCTL_SECRETS_DIR: "relative", OPSCTL_LOG_LEVEL: "loud" };

describe.each(ENGINES)("opsctl explain, %s", (runtime) => {
  const explain = (...words: string[]) => opsctl(["explain", ...words], { runtime, env: BROKEN });

  test("prints what docs/codes.md says", async () => {
    const { exitCode, stdout, stderr } = await explain("DELIVERY_NOT_FOUND");
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout:
        "DELIVERY_NOT_FOUND: The ledger by hand\n  No delivery has this id; `opsctl deliveries list` shows them.\n",
      stderr: "",
    });
  });

  test.each([[["explain", "3"]], [["completion", "bash"]], [["version", "--json"]], [["help", "weekly"]]])(
    "%j onto a full disk is a failure",
    async (args) => {
      const full = openSync("/dev/full", "w");
      const { ended } = await startOpsctl(args, { runtime, stdout: full });
      closeSync(full);
      const { exitCode, stderr } = await ended;
      expect(exitCode).toBe(1);
      expect(stderr).toContain("Cannot write the result to standard output: ENOSPC");
    },
  );

  if (runtime !== "binary") return;

  test("prints one line of JSON", async () => {
    const { exitCode, json } = await explain("PRUNE_HELD", "--json");
    expect(exitCode).toBe(0);
    expect(json).toEqual({
      command: "explain",
      status: "success",
      exitCode: 0,
      code: "PRUNE_HELD",
      explanations: [
        { section: "The ledger by hand", codes: ["PRUNE_HELD"], meaning: expect.stringContaining("prune") },
      ],
      error: null,
    });
  });
});

describe("opsctl explain", () => {
  const explain = (...words: string[]) => opsctl(["explain", ...words], { env: BROKEN });

  test.each([
    ["WEEK_OPN", "; did you mean WEEK_OPEN?"],
    ["week_open", "; did you mean WEEK_OPEN?"],
    ["app_http_502", "; did you mean APP_HTTP_502?"],
    ["nothing_like_it_at_all", "; docs/codes.md lists them all"],
  ])("says that %s is no code, and what was probably meant or where all are", async (code, near) => {
    const { exitCode, stdout, stderr } = await explain(code);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")[0]).toBe(`opsctl explain: argument <code> is no code of opsctl${near}`);
  });
});

describe("a typing error", () => {
  test.each([
    [["help", "weakly"], 'opsctl: unknown command "weakly"; did you mean weekly?'],
    [["help", "webhook", "ded"], 'opsctl webhook: unknown command "ded"; did you mean dead?'],
    [["help", "weekly", "now"], 'opsctl weekly: unexpected argument "now"'],
    [
      ["completion", "bsh"],
      "opsctl completion: argument <shell> expects one of bash, zsh, fish; did you mean bash?",
    ],
    [["completion", "tcsh"], /^opsctl completion: argument <shell> expects one of bash, zsh, fish$/],
    [["version", "--jason"], "opsctl version: unknown option --jason; did you mean --json?"],
    [
      ["reports", "list", "--state", "faild"],
      /^opsctl reports list: option --state expects one of .*; did you mean failed\?$/,
    ],
    [["doctor", "wekly"], /^opsctl doctor: argument <command> expects one of .*; did you mean weekly\?$/],
    [["weekly", "--log-format", "jsn"], /--log-format expects one of text, json; did you mean json\?$/],
  ])("%j ends with 2 and names what was probably meant", async (args, message) => {
    const { exitCode, stdout, stderr } = await opsctl(args, { runtime: "bun", env: BROKEN });
    expect([exitCode, stdout]).toEqual([2, ""]);
    if (typeof message === "string") expect(stderr.split("\n")[0]).toBe(message);
    else expect(stderr.split("\n")[0]).toMatch(message);
  });

  test("does not repeat a secret of the environment", async () => {
    for (const args of [
      ["help", "canary-1"],
      ["explain", "canary-1"],
      ["completion", "canary-1"],
    ]) {
      const { exitCode, stderr } = await opsctl(args, { env: { TRIGGER_SECRET: "canary-1" } });
      expect([exitCode, stderr.includes("canary-1")]).toEqual([2, false]);
    }
  });
});

describe("completion's question to opsctl", () => {
  test("is answered without settings, and never with a complaint", async () => {
    const ask = (...words: string[]) => opsctl(["internal", "complete", ...words], { env: BROKEN });
    expect(await ask("line", "opsctl reports list --state=mi", "mi")).toMatchObject({
      exitCode: 0,
      stdout: "missing\t\n",
      stderr: "",
    });
    for (const words of [
      [],
      ["words"],
      ["line"],
      ["line", "opsctl x --", "y"],
      ["what"],
      ["words", "weekly", "--tenant="],
    ])
      expect(await ask(...words)).toMatchObject({ exitCode: 0, stderr: "" });
  });
});
