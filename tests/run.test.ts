import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import { failuresIn } from "./support/failures.ts";
import { filesWithoutTests } from "./support/files-without-tests.ts";
import { startCheck } from "./support/make-check.ts";

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
    stderr: "There is no option --unti: only --check, --unit, files and folders\n",
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
  "fails.test.ts":
    'test("well", () => {}); test("b [1 of 2]", async () => { await 1; throw new Error("told why"); });',
  "nothing.test.ts": "test;",
  "skipped.test.ts": 'test.skip("a", () => {}); test.todo("not tried");',
  "reason.test.ts": 'test.skip("a (not tried here: needs root)", () => {});',
};

const WAYS: [string, string[], Record<string, string>][] = [
  ["in one process", [], {}],
  ["in several processes", ["--parallel=2"], {}],
  ["in colour", ["--parallel=2"], { FORCE_COLOR: "1" }],
  ["in groups", [], { GITHUB_ACTIONS: "true" }],
];

/** What `bun test` prints of these files. */
function printedOf(files: Record<string, string>, options: string[], env: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-files-"));
  for (const [name, body] of Object.entries(files))
    writeFileSync(join(folder, name), `import { test } from "bun:test"; ${body}`);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["test", ...options, ...Object.keys(files).map((f) => `./${f}`)],
    {
      cwd: folder,
      env: { ...process.env, ...env },
      encoding: "utf8",
    },
  );
  rmSync(folder, { recursive: true });
  return stripVTControlCharacters(stdout + stderr);
}

test.each(WAYS)(
  "a file of which no test ran is found in what Bun prints %s, unless it says why",
  (...way) => {
    const [, options, env] = way;
    const empty = filesWithoutTests(printedOf(FILES, options, env), Object.keys(FILES));
    expect(empty).toEqual(["nothing.test.ts", "skipped.test.ts"]);
  },
);

test.each(WAYS)("a failed test is found in what Bun prints %s, with its error", (_how, options, env) => {
  const { tests, said } = failuresIn(printedOf(FILES, options, env));
  expect(tests).toEqual(["fails.test.ts: b [1 of 2]"]);
  expect(said.join("\n")).toContain("error: told why");
});

test.each([
  ["before its name", ["seed 7", "error: a", "(fail) b [1.50ms]"]],
  ["behind all names", ["(fail) b [1.50ms]", "tests/c.test.ts:", "(pass) d", "", "seed 7", "error: a"]],
  ["below another file", ["(fail) b [1.50ms]", "", "tests/c.test.ts:", "seed 7", "error: a", "(pass) d"]],
])("what a failed test said is found %s, without what others said, and once", (_where, lines) => {
  const before = ["tests/a.test.ts:", "of another", "(pass) first [2.00ms]"];
  const printed = [...before, ...lines, "", "1 tests failed:", "(fail) b [1.50ms]"].join("\n");
  expect(failuresIn(printed)).toEqual({ tests: ["tests/a.test.ts: b"], said: ["seed 7\nerror: a"] });
});

test("the slow files with which a clone begins are there", () => {
  const { files } = JSON.parse(readFileSync(`${import.meta.dirname}/support/slow-files.json`, "utf8"));
  const gone = Object.keys(files).filter((file) => !existsSync(join(import.meta.dirname, "..", file)));
  expect(gone, "files that tests/support/slow-files.json names and that are gone").toEqual([]);
});

test("a failed make is told with what it said, one that is well is not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-make-"));
  writeFileSync(join(folder, "Makefile"), "bad:\n\t@echo told why >&2; exit 3\ngood:\n\t@echo fine\n");
  try {
    expect(await startCheck("bad", folder).failure).toContain("told why\n");
    expect(await startCheck("good", folder).failure).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
