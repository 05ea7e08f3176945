import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import { filesWithoutTests } from "./support/files-without-tests.ts";

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

const FILES: Record<string, string> = {
  "passes.test.ts": 'test("a", () => {});',
  "fails.test.ts": 'test("a", () => { throw new Error(); });',
  "nothing.test.ts": "test;",
  "skipped.test.ts": 'test.skip("a", () => {}); test.todo("not tried");',
  "reason.test.ts": 'test.skip("a (not tried here: needs root)", () => {});',
};

test.each([
  ["in one process", [], {}],
  ["in several processes", ["--parallel=2"], {}],
  ["in colour", ["--parallel=2"], { FORCE_COLOR: "1" }],
  ["in groups", [], { GITHUB_ACTIONS: "true" }],
])("a file of which no test ran is found in what Bun prints %s, unless it says why", (_how, options, env) => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-files-"));
  for (const [name, body] of Object.entries(FILES))
    writeFileSync(join(folder, name), `import { test } from "bun:test"; ${body}`);
  const files = Object.keys(FILES);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["test", ...options, ...files.map((f) => `./${f}`)],
    {
      cwd: folder,
      env: { ...process.env, ...env },
      encoding: "utf8",
    },
  );
  rmSync(folder, { recursive: true });
  const empty = filesWithoutTests(stripVTControlCharacters(stdout + stderr), files);
  expect(empty).toEqual(["nothing.test.ts", "skipped.test.ts"]);
});
