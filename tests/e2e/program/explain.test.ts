/** The commands that tell of opsctl itself: they need no settings. */
import { describe, expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { opsctl, startOpsctl } from "../support/opsctl.ts";

/** Settings that every other command would refuse. */
const BROKEN = { OPSCTL_ENV_DIR: "/dev/null", OPSCTL_SECRETS_DIR: "relative", OPSCTL_LOG_LEVEL: "loud" };

describe("opsctl explain", () => {
  const explain = (...words: string[]) => opsctl(["explain", ...words], { env: BROKEN });

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
      const { ended } = await startOpsctl(args, { stdout: full });
      closeSync(full);
      const { exitCode, stderr } = await ended;
      expect(exitCode).toBe(1);
      expect(stderr).toContain("Cannot write the result to standard output: ENOSPC");
    },
  );

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
