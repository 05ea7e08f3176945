/**
 * `make integration`: runs every `tests/integration/*.integration.ts`, one after the other, each against the real program
 * that it is named after.
 *
 * `make integration ONLY=systemd` (several with commas) runs some of them. A test whose program cannot be had here is
 * listed as not tried and fails nothing; the exit status is 1 when one failed.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type IntegrationResult, integrationName, runIntegration } from "./run-integration.ts";

const LIMIT_MS = 900_000;
const GRACE_MS = 30_000;

const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".integration.ts"))
  .sort();
const wanted = process.argv[2] ? process.argv[2].split(",") : files.map(integrationName);
const unknown = wanted.filter((name) => !files.includes(`${name}.integration.ts`));
if (unknown.length > 0 || wanted.length === 0) {
  console.error(
    `No such integration test: ${unknown.join(", ")}; there are ${files.map(integrationName).join(", ")}`,
  );
  process.exit(2);
}

const interrupted = new AbortController();
const startedMs = performance.now();
let exitStatus = 0;
for (const [name, status] of [
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(name, () => {
    exitStatus = status;
    interrupted.abort();
  });
}

const results: IntegrationResult[] = [];
for (const name of wanted) {
  if (interrupted.signal.aborted) break;
  console.log(`\n${name}`);
  const path = join(import.meta.dirname, `${name}.integration.ts`);
  const print = (line: string) => console.log(`  ${line}`);
  results.push(
    await runIntegration(path, { print, limitMs: LIMIT_MS, graceMs: GRACE_MS, signal: interrupted.signal }),
  );
}
console.log(summary());
process.exit(exitStatus || (results.some(({ status }) => status === "failed") ? 1 : 0));

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
