import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { nameList } from "../../../lib/platform/account/name-list.ts";

test("nameList() has the lines of a list with name, number and members", () => {
  expect(nameList("root:x:0:\n\n# adm:x:4:a\nadm:x:04:a,b\nbad\nbad:x:y:a\n")).toEqual([
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

/** What the C library of this machine says of a group file. */
function saidByLibrary(folder: string, text: string): string[] {
  writeFileSync(join(folder, "group"), text);
  writeFileSync(join(folder, "nsswitch.conf"), "group: files\n");
  const mounts = ["group", "nsswitch.conf"].map((file) => `mount --bind "$0/${file}" /etc/${file}`);
  const words = ["-m", "sh", "-c", `${mounts.join(" && ")} && exec getent group`, folder];
  return spawnSync("unshare", words, { encoding: "utf8" }).stdout.split("\n").filter(Boolean);
}

test.skipIf(!canMount)("nameList() takes the numbers that the C library takes", () => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-name-list-"));
  try {
    fc.assert(
      fc.property(fc.array(NUMBERS, { minLength: 100, maxLength: 100 }), (numbers) => {
        const text = numbers.map((number, index) => `g${index}:x:${number}:a\n`).join("");
        const taken = nameList(text).map(({ name, number, members }) => `${name}:x:${number}:${members}`);
        expect(taken).toEqual(saidByLibrary(folder, text));
      }),
      { numRuns: 20 },
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
