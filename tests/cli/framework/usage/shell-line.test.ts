import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { shellLine } from "../../../../cli/framework/usage/shell-line.ts";

describe("shellLine()", () => {
  test("leaves plain words as they are", () => {
    expect(shellLine(["reports", "list", "--week", "2026-11-16", "--out=/tmp/a.b"])).toBe(
      "reports list --week 2026-11-16 --out=/tmp/a.b",
    );
  });

  test.each([[["it's me"]], [["", "a  b", "$HOME", "`id`", "a\nb", "*", "~", ";", "é", "'", "\\"]]])(
    "is taken by a shell for the same words: %j",
    (words) => {
      const { stdout } = spawnSync("sh", ["-c", `printf '%s\\0' ${shellLine(words)}`], { encoding: "utf8" });
      expect(stdout.split("\0").slice(0, -1)).toEqual(words);
    },
  );
});
