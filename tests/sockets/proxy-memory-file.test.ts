import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { readProxyMemory } from "../../lib/sockets/proxy-memory-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-prom-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = "# HELP proxy_memory_bytes x\n# TYPE proxy_memory_bytes gauge\n";
const NOW_MS = Date.parse("2026-11-16T12:00:00Z");

function fileOf(text: string, ageMs = 60_000): string {
  const path = join(folder, "custom_metrics.prom");
  writeFileSync(path, text);
  utimesSync(path, new Date(NOW_MS), new Date(NOW_MS - ageMs));
  return path;
}

describe("readProxyMemory()", () => {
  test("reads the value that the collector wrote", async () => {
    const path = fileOf(`${HEAD}proxy_memory_bytes 524288000\ntcp_close_wait_total 3\n`);
    expect(await readProxyMemory(path, NOW_MS)).toBe(524_288_000);
  });
  test.each([
    "",
    HEAD,
    "proxy_memory_bytes x\n",
    "other_proxy_memory_bytes 5\n",
    "proxy_memory_bytes NaN\n",
    "proxy_memory_bytes +Inf\n",
    "proxy_memory_bytes -5\n",
    "proxy_memory_bytes 0x10\n",
    "proxy_memory_bytes 5\r\n",
    "proxy_memory_bytes 5 1795277373298\n",
    "proxy_memory_bytes 52",
  ])("returns null, never zero, for %p", async (text) => {
    expect(await readProxyMemory(fileOf(text), NOW_MS)).toBeNull();
  });
  test("does not wait for the writer of a named pipe", async () => {
    const path = join(folder, "pipe.prom");
    execFileSync("mkfifo", [path]);
    const nowMs = statSync(path).mtimeMs;
    try {
      expect(
        await Promise.race([readProxyMemory(path, nowMs), delay(60_000, "waits", { ref: false })]),
      ).toBeNull();
    } finally {
      // Frees a reader that waits all the same.
      closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    }
  });
  test("returns null for the file of a collector that has stopped, and for none", async () => {
    expect(await readProxyMemory(fileOf("proxy_memory_bytes 5\n", 300_000), NOW_MS)).toBe(5);
    expect(await readProxyMemory(fileOf("proxy_memory_bytes 5\n", 301_000), NOW_MS)).toBeNull();
    expect(await readProxyMemory(join(folder, "nothing"), NOW_MS)).toBeNull();
  });
  test("returns null for a file from the future, which a stopped collector and a clock set back leave", async () => {
    expect(await readProxyMemory(fileOf("proxy_memory_bytes 5\n", -2_000), NOW_MS)).toBe(5);
    expect(await readProxyMemory(fileOf("proxy_memory_bytes 5\n", -301_000), NOW_MS)).toBeNull();
  });
});
