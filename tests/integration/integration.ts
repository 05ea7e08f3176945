/**
 * `make integration`: runs every `tests/integration/*.integration.ts`, one after the other, each against the real program
 * that it is named after.
 *
 * `make integration ONLY=systemd` (several with commas) runs some of them. Exit status 0 of a test is `passed`, 77 with a
 * last line is `not tried` and fails nothing, anything else `failed`; the exit status is 1 when one failed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";

type Result = { name: string; status: "passed" | "failed" | "not tried"; seconds: number; reason: string };

const NOT_TRIED = 77;
const LIMIT_S = 900;
const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const SUFFIX = ".integration.ts";

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length))
  .sort();
const wanted = process.argv[2] ? process.argv[2].split(",") : names;
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0 || wanted.length === 0) {
  console.error(`No such integration test: ${unknown.join(", ")}; there are ${names.join(", ")}`);
  process.exit(2);
}

let running: ChildProcess | null = null;
let interrupted = 0;
for (const [signal, status] of Object.entries(SIGNALS))
  process.on(signal, () => {
    interrupted = status;
    running?.kill("SIGTERM");
  });

const startedMs = performance.now();
const results: Result[] = [];
for (const name of wanted) {
  if (interrupted !== 0) break;
  console.log(`\n${name}`);
  results.push(await run(name));
}
console.log(summary());
process.exit(interrupted || (results.some(({ status }) => status === "failed") ? 1 : 0));

/** Runs one test in a session of its own: a terminal interrupts this run, and this run asks the test to clear up. */
async function run(name: string): Promise<Result> {
  const sinceMs = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, name + SUFFIX)], {
    ...{ stdio: ["ignore", "pipe", "pipe"], detached: true, timeout: LIMIT_S * 1000 },
  });
  running = child;
  let last = "";
  for (const stream of [child.stdout!, child.stderr!])
    createInterface({ input: stream }).on("line", (line) => {
      last = line.trim() || last;
      console.log(`  ${line}`);
    });
  const closed = once(child, "close");
  const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
  // A process that the test left behind may keep its streams open for ever.
  await Promise.race([closed, delay(1_000)]);
  const seconds = Math.round((performance.now() - sinceMs) / 1000);
  if (code === 0) return { name, status: "passed", seconds, reason: last };
  if (code === NOT_TRIED && last !== "") return { name, status: "not tried", seconds, reason: last };
  const why = code === NOT_TRIED ? `ended with ${code} and did not say why` : `ended with ${code}`;
  const reason = seconds >= LIMIT_S ? `was not done after ${LIMIT_S} s` : signal ? `ended by ${signal}` : why;
  return { name, status: "failed", seconds, reason };
}

function summary(): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  const lines = results.map(
    ({ name, status, reason, seconds }) =>
      `  ${name.padEnd(width)}  ${status.padEnd(9)}  ${`${seconds} s`.padStart(5)}  ${reason}`,
  );
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const counts = (["passed", "failed", "not tried"] as const).map(
    (status) => `${results.filter((result) => result.status === status).length} ${status}`,
  );
  const left = wanted.length - results.length;
  const rest = left === 0 ? "" : `, ${left} left out: interrupted`;
  return [`\nSummary: ${counts.join(", ")}${rest}, ${seconds} s`, ...lines].join("\n");
}
