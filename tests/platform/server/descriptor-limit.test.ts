import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descriptorLimit } from "../../../lib/platform/server/descriptor-limit.ts";

test("descriptorLimit() is the soft limit that the kernel says", () => {
  const script = "ulimit -n 300; cat /proc/self/limits";
  const directory = mkdtempSync(join(tmpdir(), "opsctl-limits-"));
  const path = join(directory, "limits");
  writeFileSync(path, execFileSync("/bin/sh", ["-c", script]));
  expect(descriptorLimit(path)).toBe(300);
  rmSync(directory, { recursive: true });
});

test.each([join(tmpdir(), "is-not-there"), "/proc/self/status"])(
  "descriptorLimit() is null at %s",
  (path) => {
    expect(descriptorLimit(path)).toBeNull();
  },
);
