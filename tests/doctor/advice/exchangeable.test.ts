import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  doubtfulDirectoryOn,
  isExchangeable,
  isExchangeableByOthers,
} from "../../../lib/doctor/advice/exchangeable.ts";
import { asRootAlone, giveAway, isRootHere, OTHER_UID } from "../../platform/support/other-account.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-exchange-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const other = { name: "opsctl", uid: OTHER_UID, gid: OTHER_UID };
const third = { name: "opsctl", uid: OTHER_UID - 1, gid: OTHER_UID - 1 };
for (const name of ["theirs", "theirs/deep", "group", "team", "sticky", "server", "third"])
  mkdirSync(at(name), { mode: 0o755 });
for (const name of ["file", "theirs/deep/file", "group/file", "sticky/file", "third/file", "given"])
  writeFileSync(at(name), "");
symlinkSync(at("group"), at("their-link"));
chmodSync(at("group"), 0o775);
chmodSync(at("team"), 0o2775);
chmodSync(at("sticky"), 0o1777);
if (isRootHere) {
  giveAway(at("theirs"), at("their-link"), at("given"));
  chownSync(at("group"), 0, OTHER_UID);
  chownSync(at("server"), 65_534, 65_534);
  // What is the account's own there a third one could exchange, though it may not write to it.
  chownSync(at("third"), OTHER_UID - 2, OTHER_UID - 2);
  giveAway(at("third/file"));
}

describe(`isExchangeable()${asRootAlone}`, () => {
  test.each([
    "theirs/new",
    "theirs/deep/file",
    "theirs/deep/new",
    "their-link/file",
    "group/file",
    "team/new",
    "sticky/new",
    "server/new",
    "third/new",
    "third/file",
  ])("is true for %s", (name) =>
    expect(isExchangeable(at(name), other)).toBe(isRootHere || ["sticky/new", "team/new"].includes(name)),
  );

  test.each(["file", "new", "given", "theirs", "sticky/file"])("is false for %s", (name) =>
    expect(isRootHere && isExchangeable(at(name), other)).toBe(false),
  );

  test("asks for the file where a path leads behind one", () => {
    expect(isRootHere && isExchangeable(at("file/x/y"), other)).toBe(false);
    expect(isExchangeable(at("theirs/deep/file/x"), other)).toBe(isRootHere);
  });

  test("is true for a path that cannot be followed", () => {
    symlinkSync(at("loop"), at("loop"));
    expect(isExchangeable(at("loop/x"), other)).toBe(true);
  });
});

describe(`doubtfulDirectoryOn()${asRootAlone}`, () => {
  test.each([
    ["team/new", "team"],
    ["server/new", "server"],
    ["server/deep/new", "server"],
    ["third/new", "third"],
  ])("is for %s the directory to which nobody can tell whether the account may write", (name, directory) => {
    if (!isRootHere) return;
    expect(doubtfulDirectoryOn(at(name), third)).toBe(at(directory));
    expect(isExchangeable(at(name), third)).toBe(true);
  });

  test.each([
    "theirs/new",
    "group/new",
    "sticky/new",
    "their-link/file",
    "file",
    "new",
    "given",
    "team/theirs",
  ])("is none for %s", (name) => {
    if (!isRootHere) return;
    if (name === "team/theirs") {
      writeFileSync(at(name), "");
      giveAway(at(name));
    }
    expect(doubtfulDirectoryOn(at(name), other)).toBeNull();
  });
});

describe(`isExchangeableByOthers()${asRootAlone}`, () => {
  test.each(["theirs/new", "their-link/file", "group/file", "team/new", "sticky/new", "server/new"])(
    "is true for %s",
    (name) => expect(isExchangeableByOthers(at(name), [0])).toBe(true),
  );

  test.each(["file", "new", "given", "theirs", "sticky/file"])("is false for %s", (name) =>
    expect(isRootHere && isExchangeableByOthers(at(name), [0])).toBe(false),
  );
});
