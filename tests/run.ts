/**
 * Runs test files in several processes at once, then those that need the machine for themselves.
 *
 * Shape:     `bun tests/run.ts [files and folders]`; all test files without one.
 * Behaviour: each worker's database servers are copies of one that is prepared first, and all temporary files lie in
 *            one folder, which is removed at the end. Only failures are printed; the last line counts. Ends with 1 when
 *            a test failed, a file ran no test, or a test was skipped in CI whose need .ci/known-skips does not name.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { opsctlBinary } from "./support/binary.ts";
import { prepareDenoCache } from "./support/deno-cache.ts";
import { type Result, readJunit } from "./support/junit.ts";
import { preparePostgres } from "./support/postgres.ts";

/** The test files that another test running beside them would disturb, each with the reason. */
const ALONE: Record<string, string> = {
  "tests/e2e/webhook/burst.test.ts": "floods the machine, and measures memory meanwhile",
  "tests/e2e/webhook/crowd.test.ts": "opens more connections than one process may have",
  "tests/e2e/host/doctor.test.ts": "runs every check, each of which has to end within seconds",
  "tests/e2e/host/status.test.ts": "runs every check, each of which has to end within seconds",
};
const ROOT = join(import.meta.dirname, "..");
/** Much of a test's time is waiting, so there are more workers than cores. */
const WORKERS = Math.min(3 * availableParallelism(), 10);
/** Tests run too briefly for the engine's last stage of compiling, which would cost a seventh of their time. */
const ENGINE = { BUN_JSC_useFTLJIT: "0" };

const files = wantedFiles(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "opsctl-tests-"));
// Some tests run programs as other accounts, with temporary files of their own.
chmodSync(folder, 0o1777);
let running: ChildProcess | undefined;
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(signal, () => running?.kill(signal));

await opsctlBinary();
if (files.length > WORKERS) {
  await Promise.all([preparePostgres(folder), preparePostgres(folder, 15)]);
  prepareDenoCache(folder);
}
const together = files.filter((file) => !(file in ALONE));
const parallel = [
  `--parallel=${WORKERS}`,
  "--no-isolate",
  "--timings=.tools/test-timings.json",
  "--update-timings",
];
const first = await bunTest(together, parallel);
// What ends a run by a signal also keeps the rest of it from starting.
const second =
  running?.signalCode == null
    ? await bunTest(
        files.filter((file) => file in ALONE),
        [],
      )
    : undefined;
process.exitCode = report([first, ...(second ? [second] : [])]) && second ? 0 : 1;

/** The test files at or below these paths, or all. */
function wantedFiles(paths: string[]): string[] {
  const all = [...new Bun.Glob("tests/**/*.test.ts").scanSync({ cwd: ROOT })].sort();
  const wanted = paths.map((path) => relative(ROOT, resolve(path)));
  const isBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
  const unmatched = wanted.find((path) => !all.some((file) => isBelow(file, path)));
  if (unmatched === undefined)
    return paths.length === 0 ? all : all.filter((file) => wanted.some((path) => isBelow(file, path)));
  console.error(`There is no test file at or below ${unmatched}`);
  process.exit(2);
}

/** Runs these files with options of `bun test`, and reads its report. */
async function bunTest(files: string[], options: string[]): Promise<Result> {
  if (files.length === 0) return readJunit("", []);
  const outfile = join(folder, "junit.xml");
  rmSync(outfile, { force: true });
  const output = ["--timeout=600000", "--only-failures", "--reporter=junit", `--reporter-outfile=${outfile}`];
  const words = ["test", ...output, ...options, ...files.map((file) => `./${file}`)];
  const env = { ...process.env, ...ENGINE, TMPDIR: folder, OPSCTL_TEST_RUN: folder };
  // A group of its own: a worker that the terminal's signal ends would leave the programs that its tests started.
  running = spawn(process.execPath, words, { cwd: ROOT, env, stdio: "inherit", detached: true });
  const [status] = await once(running, "close");
  const result = readJunit(existsSync(outfile) ? readFileSync(outfile, "utf8") : "", files);
  // An error outside of a test is in no report.
  return { ...result, failed: result.failed || (status === 0 ? 0 : 1) };
}

/** Prints what was skipped and the totals; whether all is well. */
function report(results: Result[]): boolean {
  const known: string[] = readFileSync(join(ROOT, ".ci/known-skips"), "utf8").match(/^[a-z-]+(?=:)/gm) ?? [];
  const skipped = results.flatMap((result) => result.skipped);
  const unknown = skipped.filter((title) => {
    const needs = /\[requires ([a-z, -]+)\]/.exec(title)?.[1]?.split(", ");
    return process.env.CI !== undefined && !needs?.every((need) => known.includes(need));
  });
  const withoutTests = results.flatMap((result) => result.withoutTests);
  for (const title of skipped) console.log(`Skipped: ${title}`);
  for (const title of unknown) console.log(`Not in .ci/known-skips: ${title}`);
  for (const file of withoutTests) console.log(`No test ran: ${file}`);
  const count = (name: "passed" | "failed") => results.reduce((sum, result) => sum + result[name], 0);
  console.log(`\nTests: ${count("passed")} passed, ${count("failed")} failed, ${skipped.length} skipped`);
  return count("failed") + unknown.length + withoutTests.length === 0;
}
