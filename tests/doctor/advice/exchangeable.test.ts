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
import { isExchangeableByOthers, whoMayExchange } from "../../../lib/doctor/advice/exchangeable.ts";
import { asRootAlone, giveAway, isRootHere, OTHER_UID } from "../../platform/support/other-account.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-exchange-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const other = { name: "opsctl", uid: OTHER_UID, gid: OTHER_UID };
/** Neither it nor its group owns anything here. */
const unknown = { name: "opsctl", uid: OTHER_UID - 1, gid: OTHER_UID - 1 };
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

const asRoot = test.skipIf(!isRootHere);

describe(`whoMayExchange()${asRootAlone}`, () => {
  asRoot.each([
    "theirs/new",
    "theirs/deep/file",
    "theirs/deep/new",
    "their-link/file",
    "group/file",
    "sticky/new",
    "third/file",
  ])("is the account on the way to %s", (name) => expect(whoMayExchange(at(name), other)).toBe("account"));

  asRoot.each(["file", "new", "given", "theirs", "sticky/file"])("is root alone on the way to %s", (name) =>
    expect(whoMayExchange(at(name), other)).toBe("root"),
  );

  asRoot.each([
    ["team/new", "team"],
    ["server/new", "server"],
    ["server/deep/new", "server"],
    ["third/new", "third"],
  ])("is in doubt on the way to %s", (name, directory) =>
    expect(whoMayExchange(at(name), unknown)).toEqual({ doubtful: at(directory) }),
  );

  asRoot("is the account where that owns what is in a directory in doubt", () => {
    writeFileSync(at("team/theirs"), "");
    giveAway(at("team/theirs"));
    expect(whoMayExchange(at("team/theirs"), other)).toBe("account");
  });

  asRoot("asks for the file where a path leads behind one", () => {
    expect(whoMayExchange(at("file/x/y"), other)).toBe("root");
    expect(whoMayExchange(at("theirs/deep/file/x"), other)).toBe("account");
  });

  test("is the account where a path cannot be followed", () => {
    symlinkSync(at("loop"), at("loop"));
    expect(whoMayExchange(at("loop/x"), other)).toBe("account");
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
