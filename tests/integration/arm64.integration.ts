/**
 * The release's binary for arm64 on that processor's instructions: Debian's qemu-user and C library run it, with the
 * end-to-end tests of a weekly run, of the migrations, the webhook (killed and started again) and the socket monitor.
 * Alone: `bun tests/integration/arm64.integration.ts`.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { debianPackages } from "../support/debian-packages.ts";
import { findDebianTool } from "../support/debian-tool.ts";
import { notTried } from "./program.ts";

const ROOT = join(import.meta.dirname, "../..");
const BINARY = join(ROOT, "dist/opsctl-linux-arm64");
const TESTS = ["weekly/healthy-run", "webhook/webhook", "host/socket-monitor", "ledger/migrate"];

if (process.arch === "arm64") notTried("this machine is arm64: make test tries that binary itself");
const qemu = findDebianTool({ program: "qemu-aarch64", packageName: "qemu-user" });
if (qemu === null) notTried("it needs qemu-aarch64, of the package qemu-user, which cannot be had");
const libraries = debianPackages("debian/arm64-libraries", () => ["libc6", "libgcc-s1"], "arm64");
if (libraries === null) notTried("Debian's C library for arm64 cannot be had");

const made = spawnSync("make", ["build-all"], { cwd: ROOT, encoding: "utf8" });
assert.equal(made.status, 0, made.stderr);
const folder = mkdtempSync(join(tmpdir(), "opsctl-arm64-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const starter = join(folder, "opsctl");
writeFileSync(starter, `#!/bin/sh\nexec '${qemu}' -L '${libraries}' '${BINARY}' "$@"\n`, { mode: 0o755 });

const { stdout, stderr } = spawnSync(starter, ["--version"], { encoding: "utf8" });
assert.match(stdout, /^opsctl \d/, stderr);
const tests = spawn(
  process.execPath,
  ["test", "--timeout=600000", ...TESTS.map((name) => `./tests/e2e/${name}.test.ts`)],
  { cwd: ROOT, stdio: "inherit", env: { ...process.env, OPSCTL_TEST_BINARY: starter } },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill("SIGTERM"));
const [status] = (await once(tests, "close")) as [number | null];
assert.equal(status, 0);
console.log(`${stdout.trim()} for arm64: a weekly run, migrations, webhook and socket monitor passed`);
