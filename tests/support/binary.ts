/** The compiled `opsctl`, for the tests that start it as a process of its own. */
import { spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const binary = join(root, "dist/opsctl");
/** Whatever `make build` makes the binary from. */
const SOURCES = ["cli", "lib", "sql", "docs/codes.md", ".ci", "Makefile", "package.json", "bun.lock"];

let ready: Promise<string> | undefined;

/**
 * The path of the binary, built by `make build` when a source is newer than it; at most once in this process. With
 * OPSCTL_TEST_BINARY it is that program, which was made before.
 */
export function opsctlBinary(): Promise<string> {
  const { OPSCTL_TEST_BINARY: other } = process.env;
  ready ??= other ? Promise.resolve(other) : isUpToDate() ? Promise.resolve(binary) : build();
  return ready;
}

function isUpToDate(): boolean {
  const builtMs = modifiedMs(binary);
  return builtMs > Math.max(...SOURCES.flatMap(filesOf).map(modifiedMs));
}

function filesOf(name: string): string[] {
  const path = join(root, name);
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true }).map((inside) => join(path, String(inside)));
}

function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

async function build(): Promise<string> {
  // A make that runs these tests must not hand its own flags and job slots to this one.
  const { MAKEFLAGS: _flags, MFLAGS: _old, MAKELEVEL: _level, ...env } = process.env;
  const child = spawn("make", ["build"], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += part));
  const status = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (status !== 0) throw new Error(`make build ended with ${status}: ${output}`);
  return binary;
}
