import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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

  test("locks a file that has other content, and the same file again", () => {
    const path = join(folder, "lock");
    writeFileSync(path, "left here by something else, and longer than a header of SQLite is ".repeat(100), {
      mode: 0o600,
    });
    const before = statSync(path).ino;
    const lock = tryFileLock(path);
    expect(lock).not.toBeNull();
    expect(tryFileLock(path)).toBeNull();
    expect([statSync(path).ino, statSync(path).size]).toEqual([before, 0]);
    lock!.release();
  });
});

const UNTRUSTED = expect.objectContaining({ code: "FILE_UNTRUSTED" });

describe("tryFileLock() refuses, and opens and empties nothing:", () => {
  const path = () => join(folder, "taken");
  let victim: string;
  beforeEach(() => {
    victim = join(folder, "victim");
    writeFileSync(victim, "no database, and longer than the header of one is ".repeat(100), { mode: 0o600 });
  });
  const refuses = () => {
    expect(() => tryFileLock(path())).toThrow(UNTRUSTED);
    expect(readFileSync(victim, "utf8")).toStartWith("no database");
  };

  test.each(["", "-journal", "-wal", "-shm"])("a link and a second name, as %j of its file", (suffix) => {
    for (const plant of [symlinkSync, linkSync]) {
      plant(victim, path() + suffix);
      refuses();
      rmSync(path() + suffix);
    }
    symlinkSync(join(folder, "nowhere"), path() + suffix);
    refuses();
    expect(readdirSync(folder).sort()).toEqual([`taken${suffix}`, "victim"].sort());
  });

  test("a file, and a directory, that group or others may write to", () => {
    writeFileSync(path(), "");
    for (const mode of [0o620, 0o602]) {
      chmodSync(path(), mode);
      refuses();
    }
    chmodSync(path(), 0o600);
    for (const mode of [0o720, 0o702, 0o1777]) {
      chmodSync(folder, mode);
      refuses();
    }
    chmodSync(folder, 0o700);
  });

  requires("root").test("a file, and a directory, of another account", () => {
    writeFileSync(path(), "", { mode: 0o600 });
    giveAway(path());
    refuses();
    takeBack(path());
    giveAway(folder);
    refuses();
    takeBack(folder);
  });
});
