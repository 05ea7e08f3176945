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
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "../../../lib/platform/files/atomic-file.ts";

const NOBODY = 65534;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-atomic-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Another process, which writes the two texts in turn under a umask that would close the file. */
const WRITER = `
  import { writeFileAtomic } from ${JSON.stringify(join(import.meta.dir, "../../../lib/platform/files/atomic-file.ts"))};
  const [path, ...texts] = process.argv.slice(-3);
  process.umask(0o077);
  for (let n = 0; n < 400; n += 1) writeFileAtomic(path, texts[n % 2], { mode: 0o644 });
`;

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

  test("removes what a killed process left of the same file, and no file that may still be written", () => {
    const names = [".file.0.tmp", ".file.1.tmp", ".other.0.tmp", "file.tmp"];
    for (const name of names) writeFileSync(join(folder, name), "left");
    const anHourAgo = new Date(Date.now() - 3_700_000);
    for (const name of names.filter((one) => one !== ".file.1.tmp"))
      utimesSync(join(folder, name), anHourAgo, anHourAgo);
    writeFileAtomic(join(folder, "file"), "new", { mode: 0o644 });
    expect(readdirSync(folder).toSorted()).toEqual([".file.1.tmp", ".other.0.tmp", "file", "file.tmp"]);
  });

  test("gives the path a new file, so that who has the old one open still reads all of it", () => {
    const path = join(folder, "file");
    writeFileSync(path, "old");
    const before = statSync(path).ino;
    writeFileAtomic(path, "new", { mode: 0o644 });
    expect(statSync(path).ino).not.toBe(before);
  });

  test("is never seen torn, by whoever reads during 400 writes, nor with another mode under any umask", async () => {
    const path = join(folder, "file");
    const texts = [0, 1].map((n) => `${`line ${n}\n`.repeat(9_000)}end ${n}\n`);
    writeFileAtomic(path, texts[0]!, { mode: 0o644 });
    const writer = Bun.spawn([process.execPath, "-e", WRITER, path, ...texts], { stderr: "inherit" });
    let reads = 0;
    while (writer.exitCode === null) {
      expect(texts).toContain(readFileSync(path, "utf8"));
      expect(statSync(path).mode & 0o777).toBe(0o644);
      reads += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([writer.exitCode, readdirSync(folder)]).toEqual([0, ["file"]]);
    expect(reads).toBeGreaterThan(100);
  });

  test("replaces a link instead of writing where it leads", () => {
    const [path, elsewhere] = [join(folder, "file"), join(folder, "elsewhere")];
    writeFileSync(elsewhere, "mine");
    symlinkSync(elsewhere, path);
    writeFileAtomic(path, "new", { mode: 0o644 });
    expect([readFileSync(elsewhere, "utf8"), readFileSync(path, "utf8")]).toEqual(["mine", "new"]);
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

  test("leaves no temporary file behind when the rename fails", () => {
    mkdirSync(join(folder, "file", "inside"), { recursive: true });
    const failed = () => writeFileAtomic(join(folder, "file"), "x", { mode: 0o644 });
    expect(failed).toThrow("EISDIR");
    expect(readdirSync(folder)).toEqual(["file"]);
  });
});
