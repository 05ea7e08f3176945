import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import process from "node:process";

/** What `bun tests/run.ts` says and ends with. */
function run(args: string[], env: Record<string, string> = {}) {
  const { status, stderr } = spawnSync(process.execPath, [`${import.meta.dirname}/run.ts`, ...args], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  return { status, stderr };
}

test("the runner refuses an option and a path that it does not know, and runs nothing", () => {
  expect(run(["--unti", import.meta.path])).toEqual({
    status: 2,
    stderr: "There is no option --unti: only --unit, files and folders\n",
  });
  expect(run([import.meta.path, "tests/no-such-folder"])).toEqual({
    status: 2,
    stderr: "There is no test file at or below tests/no-such-folder\n",
  });
});

test("the runner refuses a TMPDIR in which a Unix socket would find no room", () => {
  expect(run([import.meta.path], { TMPDIR: `/tmp/${"x".repeat(60)}` })).toEqual({
    status: 2,
    stderr: "TMPDIR is too long for Unix sockets (more than 50 bytes): set TMPDIR=/tmp\n",
  });
});
