import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { accountList, groupList } from "../../../lib/platform/account/host-lists.ts";

test("groupList() has the lines of a list with name, number and members", () => {
  expect(groupList("root:x:0:\n\n# adm:x:4:a\nadm:x:04:a,b\nbad\nbad:x:y:a\n")).toEqual([
    { name: "root", number: 0, members: [""] },
    { name: "adm", number: 4, members: ["a", "b"] },
  ]);
});

const canMount = process.getuid?.() === 0 && spawnSync("unshare", ["-m", "true"]).status === 0;
const NUMBERS = fc.oneof(
  fc.constantFrom("", "0", "007", " 5", "+6", "-7", "1e3", "0x10", "9 ", "-0"),
  fc.constantFrom("4294967294", "4294967295", `${(1n << 64n) - 1n}`, `-${(1n << 64n) - 5n}`),
  fc.bigInt({ min: -(1n << 70n), max: 1n << 70n }).map(String),
  fc.string({ unit: fc.constantFrom(..."0123456789 +-a"), maxLength: 5 }),
);

/** What the C library of this machine says of a list. */
function saidByLibrary(folder: string, list: "group" | "passwd", text: string): string[] {
  writeFileSync(join(folder, list), text);
  writeFileSync(join(folder, "nsswitch.conf"), `${list}: files\n`);
  const mounts = [list, "nsswitch.conf"].map((file) => `mount --bind "$0/${file}" /etc/${file}`);
  const words = ["-m", "sh", "-c", `${mounts.join(" && ")} && exec getent ${list}`, folder];
  return spawnSync("unshare", words, { encoding: "utf8" }).stdout.split("\n").filter(Boolean);
}

test.skipIf(!canMount)("groupList() takes the numbers that the C library takes", () => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-host-lists-"));
  try {
    fc.assert(
      fc.property(fc.array(NUMBERS, { minLength: 100, maxLength: 100 }), (numbers) => {
        const text = numbers.map((number, index) => `g${index}:x:${number}:a\n`).join("");
        const taken = groupList(text).map(({ name, number, members }) => `${name}:x:${number}:${members}`);
        expect(taken).toEqual(saidByLibrary(folder, "group", text));
      }),
      { numRuns: 20 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Lines cut short, blanks, comments, orders about a directory service, and numbers of all kinds. */
const ACCOUNT_LINES = fc
  .tuple(
    fc.constantFrom("", " ", "#", "+", "-", "\t"),
    NUMBERS,
    NUMBERS,
    fc.constantFrom("", ":", "::", "::/home", "::/home:/bin/sh", ":name:/home/of:/bin/sh", ":::/bin/sh"),
    fc.boolean(),
  )
  .map(([before, uid, gid, rest, isShort]) => `${before}a:x:${uid}${isShort ? "" : `:${gid}${rest}`}`);

test.skipIf(!canMount)("accountList() takes the lines that the C library takes", () => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-host-lists-"));
  try {
    fc.assert(
      fc.property(fc.array(ACCOUNT_LINES, { minLength: 100, maxLength: 100 }), (lines) => {
        const text = lines.map((line) => `${line}\n`).join("");
        const taken = accountList(text).map(({ name, number, gid, home }) => [name, number, gid, home]);
        const said = saidByLibrary(folder, "passwd", text).filter((line) => !/^[+-]/.test(line));
        const fields = said.map((line) => line.split(":"));
        expect(taken).toEqual(
          fields.map(([name = "", , uid, gid, , home = ""]) => [name, Number(uid), Number(gid), home]),
        );
      }),
      { numRuns: 20 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
