import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryFileLock } from "../../lib/platform/file-lock.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("tryFileLock()", () => {
  test("lets one have it, and the next one after its release", () => {
    const path = join(folder, "lock");
    const first = tryFileLock(path);
    expect(first).not.toBeNull();
    expect(tryFileLock(path)).toBeNull();
    expect(tryFileLock(path, { shared: true })).toBeNull();
    first!.release();
    const second = tryFileLock(path);
    expect(second).not.toBeNull();
    second!.release();
  });

  test("lets several share it, and keeps out who wants it alone", () => {
    const path = join(folder, "lock");
    const shared = [tryFileLock(path, { shared: true }), tryFileLock(path, { shared: true })];
    expect(shared).not.toContain(null);
    expect(tryFileLock(path)).toBeNull();
    for (const lock of shared) lock!.release();
  });

  test("takes a file that holds something else, and locks the same file again", () => {
    const path = join(folder, "lock");
    writeFileSync(path, "left here by something else, and longer than a header of SQLite is ".repeat(100));
    const before = statSync(path).ino;
    const lock = tryFileLock(path);
    expect(lock).not.toBeNull();
    expect(tryFileLock(path)).toBeNull();
    expect([statSync(path).ino, statSync(path).size]).toEqual([before, 0]);
    lock!.release();
  });
});
