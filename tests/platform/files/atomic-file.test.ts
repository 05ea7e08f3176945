import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
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
import { writeFileAtomic } from "../../../lib/platform/files/atomic-file.ts";
import { requires } from "../../support/requires.ts";
import { giveAway } from "../support/other-account.ts";

const NOBODY = 65534;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-atomic-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("writeFileAtomic()", () => {
  test("replaces the file whole, with the mode asked for whatever the umask, and leaves nothing else", () => {
    const path = join(folder, "file");
    writeFileSync(path, "old and longer");
    chmodSync(path, 0o600);
    const umask = process.umask(0o077);
    try {
      writeFileAtomic(path, "new", { mode: 0o644 });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("gives the path a new file, so that who has the old one open still reads all of it", () => {
    const path = join(folder, "file");
    writeFileSync(path, "old");
    const before = statSync(path).ino;
    writeFileAtomic(path, "new", { mode: 0o644 });
    expect(statSync(path).ino).not.toBe(before);
  });

  test("does not make a missing directory", () => {
    const failed = () => writeFileAtomic(join(folder, "missing", "file"), "x", { mode: 0o644 });
    expect(failed).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect(readdirSync(folder)).toEqual([]);
  });

  test("has replaced the file where the directory may be written to and not read, and does not fail", () => {
    const path = join(folder, "file");
    writeFileSync(path, "old");
    chmodSync(folder, 0o333);
    const isRoot = process.geteuid?.() === 0;
    try {
      // Root may read everything.
      if (isRoot) {
        chownSync(folder, NOBODY, NOBODY);
        process.seteuid?.(NOBODY);
      }
      writeFileAtomic(path, "new", { mode: 0o644 });
    } finally {
      if (isRoot) process.seteuid?.(0);
      chmodSync(folder, 0o755);
    }
    expect(readFileSync(path, "utf8")).toBe("new");
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  requires("root").test("lets root write nothing into another account's directory, by whatever link", () => {
    const foreign = join(folder, "foreign");
    mkdirSync(foreign);
    symlinkSync(foreign, join(folder, "link"));
    giveAway(foreign);
    for (const name of ["foreign", "link"]) {
      const failed = () => writeFileAtomic(join(folder, name, "file"), "x", { mode: 0o644 });
      expect(failed).toThrow(expect.objectContaining({ code: "FILE_UNTRUSTED" }));
    }
    expect(readdirSync(foreign)).toEqual([]);
  });

  test("leaves no temporary file behind when the rename fails", () => {
    mkdirSync(join(folder, "file", "inside"), { recursive: true });
    const failed = () => writeFileAtomic(join(folder, "file"), "x", { mode: 0o644 });
    expect(failed).toThrow("EISDIR");
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
