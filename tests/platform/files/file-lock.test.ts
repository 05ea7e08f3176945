import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tryFileLock } from "../../../lib/platform/files/file-lock.ts";
import { requires } from "../../support/requires.ts";
import { giveAway, takeBack } from "../support/other-account.ts";

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
});

const UNTRUSTED = expect.objectContaining({ code: "FILE_UNTRUSTED" });

describe("tryFileLock() refuses, and makes nothing in", () => {
  const refuses = () => {
    expect(() => tryFileLock(join(folder, "lock"))).toThrow(UNTRUSTED);
    expect(readdirSync(folder)).toEqual([]);
  };

  test.each([0o720, 0o702, 0o1777])("a directory of mode 0o%o", (mode) => {
    chmodSync(folder, mode);
    refuses();
    chmodSync(folder, 0o700);
  });

  requires("root").test("a directory of another account", () => {
    giveAway(folder);
    refuses();
    takeBack(folder);
  });
});

test("tryFileLock() says of a named pipe in the file's place that it is one", () => {
  spawnSync("mkfifo", ["-m", "600", join(folder, "lock")]);
  expect(() => tryFileLock(join(folder, "lock"))).toThrow("it is a named pipe; nothing was read or written");
});

requires("root").test("tryFileLock() refuses a file of another account", () => {
  writeFileSync(join(folder, "lock"), "", { mode: 0o600 });
  giveAway(join(folder, "lock"));
  expect(() => tryFileLock(join(folder, "lock"))).toThrow(UNTRUSTED);
});
