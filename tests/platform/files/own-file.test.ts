import { afterEach, beforeEach, expect, test } from "bun:test";
import { linkSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyOwnFile } from "../../../lib/platform/files/own-file.ts";

let folder: string;
let own: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "opsctl-own-"));
  own = join(folder, "own");
  writeFileSync(own, "of this account\n", { mode: 0o600 });
});
afterEach(() => rmSync(folder, { recursive: true }));

test("emptyOwnFile() empties a file of this process's own", () => {
  emptyOwnFile(own);
  expect(readFileSync(own, "utf8")).toBe("");
});

test("emptyOwnFile() follows no link, although it leads to a file of this process's own", () => {
  const link = join(folder, "link");
  symlinkSync(own, link);
  expect(() => emptyOwnFile(link)).toThrow("ELOOP");
  expect(readFileSync(own, "utf8")).toBe("of this account\n");
});

test("emptyOwnFile() leaves a file with a second name as it is", () => {
  linkSync(own, join(folder, "second"));
  expect(() => emptyOwnFile(own)).toThrow("hard link");
  expect(readFileSync(own, "utf8")).toBe("of this account\n");
});
