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
import { isExchangeable } from "../../../lib/doctor/advice/exchangeable.ts";
import { asRootAlone, giveAway, isRootHere, OTHER_UID } from "../../platform/support/other-account.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-exchange-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const other = { uid: OTHER_UID, gid: OTHER_UID };
for (const name of ["theirs", "theirs/deep", "group", "team", "sticky"]) mkdirSync(at(name), { mode: 0o755 });
for (const name of ["file", "theirs/deep/file", "group/file", "sticky/file", "given"])
  writeFileSync(at(name), "");
symlinkSync(at("group"), at("their-link"));
chmodSync(at("group"), 0o775);
chmodSync(at("team"), 0o2775);
chmodSync(at("sticky"), 0o1777);
if (isRootHere) {
  giveAway(at("theirs"), at("their-link"), at("given"));
  chownSync(at("group"), 0, OTHER_UID);
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
