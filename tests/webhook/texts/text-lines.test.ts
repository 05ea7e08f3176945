import { describe, expect, test } from "bun:test";
import { textLines } from "../../../lib/webhook/texts/text-lines.ts";

describe("textLines()", () => {
  test.each([
    ["um", ["um"]],
    ["um\ndois\r\ntrês\rquatro", ["um", "dois", "três", "quatro"]],
    ["a\u2028b\u2029c\u0085d\u000Be\fg", ["a", "b", "c", "d", "e", "g"]],
    [" a\t b \n\n \u200B\n\u0000c", ["a b", "c"]],
    ["meio \uD83D\n par", ["meio \uFFFD", "par"]],
    ["", []],
    ["\n\n", []],
  ])("%p has the lines %p", (text, lines) => {
    expect(textLines(text)).toEqual(lines);
  });
});
