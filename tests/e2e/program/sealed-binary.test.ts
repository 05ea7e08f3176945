/** The compiled binary is opsctl and nothing else, whatever the environment says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { opsctl } from "../support/opsctl.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-sealed-"));
const script = join(folder, "script.ts");
beforeAll(() => writeFileSync(script, 'console.log("a script ran")\n'));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the binary", () => {
  test("is no interpreter with BUN_BE_BUN", async () => {
    const { exitCode, stdout, stderr } = await opsctl(["run", script], { env: { BUN_BE_BUN: "1" } });
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("opsctl: unknown ");
  });

  test.each([`--preload ${script}`, "--print 1"])(
    "runs nothing first for BUN_OPTIONS=%p",
    async (options) => {
      const { exitCode, stdout } = await opsctl(["--version"], { env: { BUN_OPTIONS: options } });
      expect([exitCode, stdout.startsWith("opsctl "), stdout.split("\n").length]).toEqual([0, true, 2]);
    },
  );
});
