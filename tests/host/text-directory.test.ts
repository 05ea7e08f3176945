import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTextDirectory } from "../../lib/host/text-directory.ts";
import { asRootAlone, giveAway, isRootHere } from "../platform/support/other-account.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "opsctl-text-directory-")));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
for (const name of ["own", "own/open", "own/open/last", "theirs", "theirs/open", "theirs/open/last"])
  mkdirSync(at(name));
for (const name of ["own/open", "theirs/open"]) chmodSync(at(name), 0o777);

const hintOf = (name: string) => {
  try {
    findTextDirectory(at(name));
    return null;
  } catch (error) {
    return (error as { hint?: string }).hint;
  }
};

describe("findTextDirectory()", () => {
  test("names the line that closes a directory on the way to others", () =>
    expect(hintOf("own/open/last")).toBe(
      `chmod go-w ${at("own/open")} # unless others need it, as /tmp: then name another directory`,
    ));

  test.skipIf(!isRootHere)(
    `names none behind a directory whose owner could lead that line elsewhere${asRootAlone}`,
    () => {
      giveAway(at("theirs"), at("theirs/open"), at("theirs/open/last"));
      for (const name of ["theirs/open/last", "theirs/open"])
        expect(hintOf(name)).toStartWith(
          "Set TEXTFILE_DIR to a directory that no other account can exchange",
        );
    },
  );
});
