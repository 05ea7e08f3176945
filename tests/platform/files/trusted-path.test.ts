import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { untrustedEnd, untrustedStep, wayTo } from "../../../lib/platform/files/trusted-path.ts";
import { asRootAlone, giveAway, isRootHere, OTHER_UID } from "../support/other-account.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-way-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

const OWN = [0, process.geteuid!()];
const inside = (...parts: string[]) => join(folder, ...parts);
const stepsOf = (path: string) =>
  wayTo(path)
    .steps.map((step) => step.path)
    .filter((step) => step.startsWith(folder));
/** What the account itself finds wrong with a way, the end included. */
function faultOf(path: string, trusted: readonly number[] = OWN) {
  const { steps, end } = wayTo(path);
  return untrustedStep(steps, trusted) ?? (end && untrustedEnd(end, trusted));
}

describe("wayTo()", () => {
  test("names every directory and every link on the way, and what stands at the end", () => {
    mkdirSync(inside("real/deep"), { recursive: true });
    writeFileSync(inside("real/deep/file"), "");
    symlinkSync("real", inside("relative"));
    symlinkSync(inside("relative/deep"), inside("absolute"));
    expect(stepsOf(inside("absolute/file"))).toEqual([
      folder,
      inside("absolute"),
      folder,
      inside("relative"),
      folder,
      inside("real"),
      inside("real/deep"),
    ]);
    expect(wayTo(`${inside("absolute")}/../deep/file`).end).toMatchObject({
      path: inside("real/deep/file"),
      kind: "other",
    });
    expect(wayTo("/").end).toMatchObject({ path: "/", kind: "directory" });
  });

  test("ends where nothing is, with the steps so far, also behind a link", () => {
    symlinkSync(inside("nowhere"), inside("link"));
    expect(wayTo(inside("link"))).toMatchObject({ end: null });
    expect(stepsOf(inside("link"))).toContain(inside("link"));
    expect(wayTo(inside("missing/more")).end).toBeNull();
  });

  test("does not go in circles, and takes no file for a directory", () => {
    symlinkSync("b", inside("a"));
    symlinkSync("a", inside("b"));
    expect(() => wayTo(inside("a"))).toThrow(expect.objectContaining({ code: "ELOOP" }));
    writeFileSync(inside("file"), "");
    expect(() => wayTo(inside("file/more"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
  });
});

describe("untrustedStep() and untrustedEnd()", () => {
  test("find a directory that group or others may write to, at the end also a sticky one", () => {
    const end = inside("end");
    mkdirSync(end);
    for (const mode of [0o720, 0o702, 0o777]) {
      chmodSync(folder, mode);
      expect(faultOf(end)).toMatchObject({ path: folder, owner: null });
    }
    chmodSync(folder, 0o1777);
    expect(faultOf(end)).toBeNull();
    expect(faultOf(folder)).toMatchObject({ path: folder, owner: null });
    chmodSync(folder, 0o755);
    chmodSync(end, 0o1770);
    expect(faultOf(end)).toMatchObject({ path: end, owner: null });
  });

  test(`find what another account owns: a directory, a file, and a link even in a sticky directory${asRootAlone}`, () => {
    if (!isRootHere) return;
    mkdirSync(inside("between"));
    writeFileSync(inside("between/file"), "");
    symlinkSync(inside("between/file"), inside("link"));
    chmodSync(folder, 0o1777);
    expect(faultOf(inside("link"))).toBeNull();
    giveAway(inside("link"));
    expect(faultOf(inside("link"))).toMatchObject({ path: inside("link"), owner: OTHER_UID });
    giveAway(inside("between"));
    expect(faultOf(inside("between/file"))).toMatchObject({ path: inside("between"), owner: OTHER_UID });
    expect(faultOf(inside("between/file"), [0, OTHER_UID])).toBeNull();
    giveAway(inside("between/file"));
    expect(faultOf(inside("between/file"), [0, OTHER_UID])).toBeNull();
  });
});
