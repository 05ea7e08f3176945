import { describe, expect, test } from "bun:test";
import { misuse, unknownWord } from "../../../../cli/framework/usage/misuse.ts";
import { root } from "../../../../cli/root.ts";

describe("misuse()", () => {
  test.each([
    ["unknown option --\u001b[31mred\u001b]0;title\u0007", "opsctl x: unknown option -- [31mred ]0;title"],
    ["unknown option --a\r\nopsctl: all is well", "opsctl x: unknown option --a opsctl: all is well"],
    ["unknown option --\u202Ecba\u009B2J", "opsctl x: unknown option --cba 2J"],
  ])("repeats %j without what a terminal obeys", (problem, message) => {
    expect(misuse(problem, "opsctl x", "opsctl x [options]").message).toBe(message);
  });
});

test("unknownWord() repeats an option without what a terminal obeys", () => {
  const { message } = unknownWord("--\u001b[2Jx", root, "opsctl");
  expect(message).toBe("opsctl: unknown option -- [2Jx");
});
