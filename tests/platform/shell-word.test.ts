import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { shellWord } from "../../lib/platform/shell-word.ts";

describe("shellWord()", () => {
  test("leaves plain words as they are", () => {
    for (const word of ["reports", "--week", "2026-11-16", "--out=/tmp/a.b"])
      expect(shellWord(word)).toBe(word);
  });

  test("is taken by a shell for the same word", () => {
    const words = ["it's me", "", "a  b", "$HOME", "`id`", "a\nb", "*", "~", ";", "é", "'", "\\"];
    const line = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
    const { stdout } = spawnSync("sh", ["-c", line], { encoding: "utf8" });
    expect(stdout.split("\0").slice(0, -1)).toEqual(words);
  });
});
