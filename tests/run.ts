/**
 * Runs the test files in several processes, then the ones that need the machine for themselves.
 *
 * Shape:     `bun tests/run.ts --check` (make test: with `make check` beside the tests), `bun tests/run.ts --unit`
 *            (make unit: the files that start no large program), or files and folders.
 * Behaviour: a worker keeps its database servers from file to file; each is a copy of one that was made before the
 *            workers began. All temporary files lie in one folder, which is removed at the end, also when this process
 *            is killed; the servers' data lies in memory. A test is never run again to see it pass: what failed is said
 *            once more at the end, with the seed and values of a property. Ends with 1 when a test or a check failed, a
 *            process crashed, a file was not run or no test of it was, with 2 for an option or a path that it does not
 *            know.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
} from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import { opsctlBinary } from "./support/binary.ts";
import { prepareDenoCache } from "./support/deno-cache.ts";
import { type Failures, failuresIn } from "./support/failures.ts";
import { filesWithoutTests } from "./support/files-without-tests.ts";
import { type RunningCheck, startCheck } from "./support/make-check.ts";
import { preparePostgres } from "./support/postgres.ts";

/** The test files that another test running beside them would disturb, each with the reason. */
const ALONE: Record<string, string> = {
  "tests/e2e/webhook/burst.test.ts": "floods the machine, and measures memory meanwhile",
  "tests/e2e/webhook/crowd.test.ts": "opens more connections than one process may have",
};
/** The same, but only where the tests may not have a network of their own. */
const ALONE_IN_ONE_NETWORK: Record<string, string> = {
  "tests/e2e/host/collect-sockets.test.ts": "compares a count of all sockets of the network with ss",
  "tests/e2e/host/socket-monitor.test.ts": "compares a count of all sockets of the network with a threshold",
  "tests/host/count-sockets.test.ts": "compares a count of all sockets of the network with ss",
};

/** The longest folder for temporary files in which the tests' Unix sockets, whose paths have 107 bytes, find room. */
const LONGEST_TMPDIR = 50;
/** Much of a test's time is waiting, so there are more workers than cores. */
const WORKERS = Math.min(5 * availableParallelism(), 10);
/** The tests' code runs too briefly for the engine's last stage of compiling: a seventh of their processor time. */
const ENGINE = { BUN_JSC_useFTLJIT: "0" };
const OPTIONS = ["--check", "--unit"];
const ROOT = join(import.meta.dirname, "..");
/** What starts the compiled binary, what starts a database, and what starts Deno. */
const [BINARY, DATABASE, DENO] = ["binary", "postgres", "deno-cache"].map((name) =>
  join(ROOT, `tests/support/${name}.ts`),
) as [string, string, string];
/** What starts a large program: besides those Chromium, Prometheus' tester, tools of Debian, and the installation. */
const LARGE = [
  ...[BINARY, DATABASE, DENO],
  ...["chromium", "promtool", "debian-tool"].map((name) => join(ROOT, `tests/support/${name}.ts`)),
  join(ROOT, "tests/systemd/support/clone.ts"),
];
/** How long each file took the last time on this machine; the slowest begin first. */
const TIMINGS = ".tools/test-timings.json";
/** What a clone begins with: otherwise its last file could be one that runs for a minute while the cores are idle. */
const FIRST_TIMINGS = "tests/support/slow-files.json";
/** How much of what was said before a failure is repeated at the end. */
const LAST_LINES = 120;

/** Stops what runs and removes the folder once the runner closes the pipe, or is gone, killed or not. */
const GUARDIAN = `while read -r pid; do running="$pid"; done
[ -z "$running" ] || kill "$running"
left=200
while [ -e "$1" ] && [ $((left -= 1)) -gt 0 ]; do
  ls -d "$1"/opsctl-pg-* >&2 || [ $left -eq 1 ] || rm -rf "$1"
  sleep 0.05
done
rm -rf "$1"`;

/** What a `bun test` counted, and what it said of its failures. */
type Result = {
  ok: boolean;
  pass: number;
  skip: number;
  fail: number;
  tests: number;
  files: number;
  failures: Failures;
  /** The files of which no test ran, without a word why. */
  empty: string[];
};

const started = performance.now();
const named = [...Object.keys(ALONE), ...Object.keys(ALONE_IN_ONE_NETWORK)];
const gone = named.find((file) => !existsSync(join(ROOT, file)));
if (gone !== undefined)
  throw new Error(`tests/run.ts names ${gone} as one that runs alone, and there is no such file`);
const files = wantedFiles(process.argv.slice(2));
if (Buffer.byteLength(tmpdir()) > LONGEST_TMPDIR)
  refuse(`TMPDIR is too long for Unix sockets (more than ${LONGEST_TMPDIR} bytes): set TMPDIR=/tmp`);

const folder = mkdtempSync(join(tmpdir(), "opsctl-tests-"));
// Some tests run programs as other accounts, with temporary files of their own.
chmodSync(folder, 0o1777);
// The collector of root keeps its locks there; each test removes its own.
const ROOT_LOCKS = "/run/opsctl-collect";
const hadLocks = existsSync(ROOT_LOCKS);
const guardian = spawn("sh", ["-c", GUARDIAN, "sh", folder], {
  cwd: "/",
  stdio: ["pipe", "ignore", "ignore"],
  detached: true,
});
let running: ChildProcess | undefined;
let check: RunningCheck | undefined;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => {
    running?.kill("SIGTERM");
    check?.stop();
  });

const hasOwnNetworks = spawnSync("unshare", ["--net", "true"]).status === 0;
const disturbed: Record<string, string> = hasOwnNetworks ? ALONE : { ...ALONE, ...ALONE_IN_ONE_NETWORK };
const alone = files.filter((file) => file in disturbed);
const together = files.filter((file) => !(file in disturbed));
const results: Result[] = [];
// Otherwise each worker would find it old and build it.
if (files.some((file) => imports(join(ROOT, file), [BINARY]))) await opsctlBinary();
if (process.argv.includes("--check")) check = checkBeside();
if (together.filter((file) => imports(join(ROOT, file), [DATABASE])).length > WORKERS)
  await Promise.all([preparePostgres(folder), preparePostgres(folder, 15)]);
// Else the first test that starts Deno makes it, and for seconds no stand-in of its process answers.
if (together.some((file) => imports(join(ROOT, file), [DENO]))) prepareDenoCache(folder);
if (together.length > 0) {
  beginTimings();
  const timings = [`--timings=${TIMINGS}`, "--update-timings"];
  results.push(await bunTest([`--parallel=${WORKERS}`, "--no-isolate", ...timings], together));
}
if (alone.length > 0 && running?.signalCode == null) {
  console.log("\nAlone:");
  results.push(await bunTest([], alone));
}
const ended = new Promise((resolve) => guardian.once("exit", resolve));
guardian.stdin.end("\n");
await ended;
if (!hadLocks && existsSync(ROOT_LOCKS) && readdirSync(ROOT_LOCKS).length === 0) rmdirSync(ROOT_LOCKS);
const areTestsWell = tell(results);
const failure = (await check?.failure) ?? null;
if (failure !== null) console.log(`\nmake check failed:\n${lastOf(failure)}`);
process.exitCode = areTestsWell && failure === null ? 0 : 1;

/** Starts `make check` and says at once when it has failed; what it said comes at the end. */
function checkBeside(): RunningCheck {
  const started = startCheck();
  void started.failure.then((failure) => {
    if (failure !== null) console.log("\nmake check failed: what it said comes after the tests\n");
  });
  return started;
}

/** The test files below these paths, or all; with `--unit` only those that start no large program. */
function wantedFiles(args: string[]): string[] {
  const unknown = args.find((arg) => arg.startsWith("-") && !OPTIONS.includes(arg));
  if (unknown !== undefined)
    refuse(`There is no option ${unknown}: only ${OPTIONS.join(", ")}, files and folders`);
  const paths = args.filter((arg) => !arg.startsWith("-"));
  const isBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
  const all = [...new Bun.Glob("tests/**/*.test.ts").scanSync({ cwd: ROOT })].sort();
  const empty = paths.find((path) => !all.some((file) => isBelow(join(ROOT, file), resolve(path))));
  if (empty !== undefined) refuse(`There is no test file at or below ${empty}`);
  return all
    .filter((file) => paths.length === 0 || paths.some((path) => isBelow(join(ROOT, file), resolve(path))))
    .filter((file) => !args.includes("--unit") || !imports(join(ROOT, file), LARGE));
}

function beginTimings(): void {
  const path = join(ROOT, TIMINGS);
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(join(ROOT, FIRST_TIMINGS), path);
}

/** Says why nothing is run, and ends. */
function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Whether the file imports one of these, directly or through others. */
function imports(file: string, wanted: readonly string[], seen = new Set<string>()): boolean {
  if (wanted.includes(file)) return true;
  if (seen.has(file)) return false;
  seen.add(file);
  return importsOf(file).some((path) => imports(path, wanted, seen));
}

/** The files of ours that a file imports; none when it cannot be read: then it fails by its name when it is run. */
function importsOf(file: string): string[] {
  try {
    return new Bun.Transpiler({ loader: "ts" })
      .scanImports(readFileSync(file, "utf8"))
      .filter(({ path }) => /^\..*\.ts$/.test(path))
      .map(({ path }) => resolve(dirname(file), path));
  } catch {
    return [];
  }
}

/** Runs these files, shows what is said as it comes, and reads the counts out of it. */
async function bunTest(options: string[], files: string[]): Promise<Result> {
  const colour = process.stdout.isTTY && process.env.NO_COLOR === undefined ? { FORCE_COLOR: "1" } : {};
  const child = spawn(process.execPath, ["test", ...options, ...files.map((file) => `./${file}`)], {
    cwd: ROOT,
    env: { ...process.env, ...colour, ...ENGINE, TMPDIR: folder, OPSCTL_TEST_RUN: folder },
    stdio: ["ignore", "pipe", "pipe"],
    // The terminal's signals come through this process: a worker that they end leaves the programs that its tests
    // started.
    detached: true,
  });
  running = child;
  guardian.stdin.write(`${child.pid}\n`);
  let text = "";
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const)
    from.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      to.write(part);
    });
  const status = await new Promise((resolve) => child.once("close", resolve));
  guardian.stdin.write("\n");
  const said = stripVTControlCharacters(text);
  const count = (pattern: RegExp) => Number(said.match(pattern)?.at(-1) ?? 0);
  const empty = filesWithoutTests(said, files);
  const ran = /^Ran (\d+) tests? across (\d+) files?/m.exec(said);
  return {
    ok: status === 0 && Number(ran?.[2]) === files.length && empty.length === 0,
    pass: count(/^ *(\d+) pass$/m),
    skip: count(/^ *(\d+) skip$/m),
    fail: count(/^ *(\d+) fail$/m),
    tests: Number(ran?.[1] ?? 0),
    files: Number(ran?.[2] ?? 0),
    failures: failuresIn(said),
    empty,
  };
}

function lastOf(text: string): string {
  return text.split("\n").slice(-LAST_LINES).join("\n");
}

/** Says the totals and what failed; whether all is well. */
function tell(results: Result[]): boolean {
  const sum = (name: "pass" | "skip" | "fail" | "tests" | "files") =>
    results.reduce((total, result) => total + result[name], 0);
  const failed = results.flatMap(({ failures }) => failures.tests);
  const empty = results.flatMap((result) => result.empty);
  const isWell = results.length > 0 && results.every(({ ok }) => ok) && sum("files") === files.length;
  const seconds = Math.round((performance.now() - started) / 1000);
  if (failed.length > 0) console.log("\nWhat was said of the failures:");
  for (const said of results.flatMap(({ failures }) => failures.said)) console.log(`\n${lastOf(said)}`);
  if (failed.length > 0) console.log(`\nFailed:\n${failed.join("\n")}`);
  if (empty.length > 0)
    console.log(`\nNo test ran, and no skipped one says "not tried":\n${empty.join("\n")}`);
  const skipped = sum("skip") === 0 ? "" : `, ${sum("skip")} skipped`;
  console.log(
    `\nIn all: ${sum("pass")} passed, ${sum("fail")} failed${skipped}; ${sum("tests")} tests of ${sum("files")} of ${files.length} files in ${seconds} s`,
  );
  if (!isWell && failed.length + empty.length === 0)
    console.log("Something failed outside of a test: see above.");
  return isWell;
}
