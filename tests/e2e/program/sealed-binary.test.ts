/** The compiled binary is opsctl and nothing else, whatever the environment says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { opsctlBinary } from "../../support/binary.ts";
import { opsctl } from "../support/opsctl.ts";

const folder = mkdtempSync(join(tmpdir(), "opsctl-sealed-"));
const script = join(folder, "script.ts");
beforeAll(() => writeFileSync(script, 'console.log("a script ran")\n'));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the binary", () => {
  test.each([
    [{ BUN_BE_BUN: "1" }, ["-e", 'console.log("a script ran")']],
    [{ BUN_BE_BUN: "1" }, [script]],
    [{ BUN_BE_BUN: "1" }, ["run", script]],
    [{ "": "1", UN_BE_BUN: "1" }, [script]],
  ])("is no interpreter with %p", async (env, args) => {
    const { exitCode, stdout, stderr } = await opsctl(args, { env: env as never });
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("opsctl: unknown ");
  });

  test.each([
    `--preload ${script}`,
    `--preload=${script}`,
    `-r ${script}`,
    `--import ${script}`,
    `--print 1`,
  ])("runs nothing first for BUN_OPTIONS=%p", async (options) => {
    const { exitCode, stdout } = await opsctl(["--version"], { env: { BUN_OPTIONS: options } });
    expect([exitCode, stdout.startsWith("opsctl "), stdout.split("\n").length]).toEqual([0, true, 2]);
  });

  test.each(["bunfig.toml", ".env", "package.json", "tsconfig.json"])(
    "takes nothing of a %s",
    async (name) => {
      const texts: Record<string, string> = {
        "bunfig.toml": `preload = [${JSON.stringify(script)}]\n`,
        ".env": "BUN_OPTIONS=--version\nOPSCTL_LOG_LEVEL=nonsense\n",
      };
      writeFileSync(join(folder, name), texts[name] ?? "{ no JSON");
      const { exitCode, stdout, stderr } = await opsctl(["weekly", "--json"], { cwd: folder });
      expect([exitCode, stdout.split("\n").length]).toEqual([3, 2]);
      expect(stderr).not.toContain("OPSCTL_LOG_LEVEL");
      rmSync(join(folder, name));
    },
  );
});

describe(".ci/seal-binary.ts", () => {
  test("fails the build when it does not find each name exactly once", async () => {
    const tool = join(import.meta.dirname, "../../../.ci/seal-binary.ts");
    const copy = join(folder, "copy");
    copyFileSync(await opsctlBinary(), copy);
    const before = readFileSync(copy);
    const { status, stderr } = spawnSync(process.execPath, [tool, copy], { encoding: "utf8" });
    expect([status, stderr.includes("BUN_BE_BUN stands in it 0 times")]).toEqual([1, true]);
    expect(before.equals(readFileSync(copy))).toBe(true);
  });

  test("changes two bytes of the file, which stays the same one", () => {
    const tool = join(import.meta.dirname, "../../../.ci/seal-binary.ts");
    const program = join(folder, "program");
    writeFileSync(program, "\0BUN_BE_BUN\0 and \0BUN_OPTIONS\0", { mode: 0o755 });
    const { ino, mode } = statSync(program);
    const { status, stderr } = spawnSync(process.execPath, [tool, program], { encoding: "utf8" });
    expect([status, stderr, readFileSync(program, "latin1")]).toEqual([
      0,
      "",
      "\0\0UN_BE_BUN\0 and \0\0UN_OPTIONS\0",
    ]);
    expect([statSync(program).ino, statSync(program).mode]).toEqual([ino, mode]);
  });
});
