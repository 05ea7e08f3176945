import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { findTextDirectory } from "../../lib/host/text-directory.ts";
import { LOCK_FILE, lockPathOf, lockRun } from "../../lib/metrics/run-lock.ts";
import type { OpsError } from "../../lib/platform/errors.ts";
import { asRootAlone, giveAway, isRootHere } from "../platform/support/other-account.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-run-lock-"));
});
afterEach(() => {
  chmodSync(folder, 0o700);
  if (isRootHere) rmSync(lockPathOf(findTextDirectory(folder)), { force: true, recursive: true });
  rmSync(folder, { recursive: true });
});

const lock = (directory = folder) => lockRun(findTextDirectory(directory));
const lockPath = () => lockPathOf(findTextDirectory(folder));

describe("lockRun()", () => {
  test("lets one run in, keeps the next one out, also one of another process, and frees it in the end", () => {
    const from = (name: string) => JSON.stringify(join(import.meta.dir, "../../lib", name));
    const script = `import { lockRun } from ${from("metrics/run-lock.ts")};
      import { findTextDirectory } from ${from("host/text-directory.ts")};
      console.log(lockRun(findTextDirectory(${JSON.stringify(folder)})) === null ? "kept out" : "let in");`;
    const other = () => spawnSync(process.execPath, ["-e", script], { encoding: "utf8" }).stdout.trim();
    const first = lock();
    expect(first).not.toBeNull();
    expect(lock()).toBeNull();
    expect(other()).toBe("kept out");
    first?.release();
    expect(other()).toBe("let in");
    expect(lockPath().endsWith(".prom")).toBe(false);
    expect(statSync(lockPath()).mode & 0o777).toBe(0o600);
  });

  test(`is a file of root's in a directory of root's when root runs it${asRootAlone}`, () => {
    if (!isRootHere) return expect(lockPath()).toBe(join(folder, LOCK_FILE));
    lock()?.release();
    expect(existsSync(join(folder, LOCK_FILE))).toBe(false);
    expect(statSync(dirname(lockPath()))).toMatchObject({ uid: 0, mode: 0o40700 });
    expect(basename(dirname(lockPath()))).toBe("opsctl-collect");
  });

  test("is the same by every path to the directory, the operator's own link too", () => {
    const link = `${folder}-link`;
    symlinkSync(folder, link);
    try {
      const first = lock(link);
      expect(first).not.toBeNull();
      expect(lock()).toBeNull();
      expect(lock(`${folder}/../${basename(folder)}/`)).toBeNull();
      first?.release();
    } finally {
      rmSync(link);
    }
  });

  test("follows no link that was planted, and empties nothing that it leads to", () => {
    lock()?.release();
    rmSync(lockPath());
    const target = join(folder, "target");
    writeFileSync(target, "keep me ".repeat(200), { mode: 0o600 });
    symlinkSync(target, lockPath());
    expect(() => lock()).toThrow(expect.objectContaining({ code: "METRICS_FILE_UNWRITABLE" }));
    expect(readFileSync(target, "utf8")).toBe("keep me ".repeat(200));
  });

  test("takes a file of its own that holds something else, and locks it", () => {
    lock()?.release();
    writeFileSync(lockPath(), "no database at all, and longer than a header of one would be ".repeat(40));
    const first = lock();
    expect(first).not.toBeNull();
    expect(lock()).toBeNull();
    first?.release();
  });
});

describe("findTextDirectory()", () => {
  const missingHint = (path: string) => {
    try {
      findTextDirectory(path);
    } catch (error) {
      expect(error).toMatchObject({ code: "TEXTFILE_DIR_MISSING" });
      return (error as OpsError).hint;
    }
    throw new Error("it is there");
  };
  const SET = "Set TEXTFILE_DIR to the agent's text-file directory";

  test("does not make a missing directory, takes no file for one, and says how one is made", () => {
    const missing = join(folder, "missing");
    expect(missingHint(missing)).toBe(`${SET}, or create it: install -d -m 0755 ${missing}`);
    expect(missingHint(`${missing} $(id)`)).toBe(
      `${SET}, or create it: install -d -m 0755 '${missing} $(id)'`,
    );
    expect(existsSync(missing)).toBe(false);
    writeFileSync(missing, "");
    expect([missing, `${missing}/behind`].map(missingHint)).toEqual([SET, SET]);
  });

  test("gives no line that another account could lead elsewhere", () => {
    const missing = join(folder, "missing");
    for (const mode of [0o775, 0o1777]) {
      chmodSync(folder, mode);
      expect(missingHint(missing)).toBe(SET);
    }
    chmodSync(folder, 0o755);
    // The line makes what is missing, and then goes up from it.
    expect(missingHint(`${missing}/../../shared/elsewhere`)).toBe(SET);
    symlinkSync(join(folder, "nowhere"), missing);
    if (isRootHere) {
      giveAway(missing);
      expect(missingHint(missing)).toBe(SET);
    }
  });

  const mend = () => `chmod go-w ${folder} # unless others need it, as /tmp: then name another directory`;

  test.each([0o775, 0o757, 0o1777])("refuses mode %o, and says what mends it", (mode) => {
    chmodSync(folder, mode);
    expect(() => findTextDirectory(folder)).toThrow(
      expect.objectContaining({ code: "TEXTFILE_DIR_UNTRUSTED", hint: mend() }),
    );
    chmodSync(folder, 0o755);
    expect(findTextDirectory(folder).path).toBe(folder);
  });

  test("refuses one below a directory that group or others may write to", () => {
    const inner = mkdtempSync(join(folder, "inner-"));
    chmodSync(folder, 0o775);
    expect(() => findTextDirectory(inner)).toThrow(
      expect.objectContaining({ code: "TEXTFILE_DIR_UNTRUSTED", hint: mend() }),
    );
    chmodSync(folder, 0o1777);
    expect(findTextDirectory(inner).path).toBe(inner);
  });

  test(`refuses one below a directory, or behind a link, of another account${asRootAlone}`, () => {
    if (!isRootHere) return;
    const inner = mkdtempSync(join(folder, "inner-"));
    const link = join(mkdtempSync(join(folder, "links-")), "link");
    symlinkSync(inner, link);
    expect(findTextDirectory(link).path).toBe(inner);
    giveAway(dirname(link));
    expect(() => findTextDirectory(link)).toThrow(
      expect.objectContaining({ code: "TEXTFILE_DIR_UNTRUSTED" }),
    );
    giveAway(folder);
    expect(() => findTextDirectory(inner)).toThrow(
      expect.objectContaining({ code: "TEXTFILE_DIR_UNTRUSTED" }),
    );
    // The owner of the directory may exchange the one above it: it is that owner who writes.
    giveAway(inner);
    expect(findTextDirectory(inner)).toMatchObject({ path: inner, uid: 65534 });
  });
});
