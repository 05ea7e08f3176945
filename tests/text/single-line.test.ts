import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { singleLine } from "../../lib/text/single-line.ts";

describe("singleLine()", () => {
  test.each([
    ["um\ndois\r\ntrês", "um dois três"],
    ["um\u2028dois\u2029três\u0085quatro\u000Bcinco", "um dois três quatro cinco"],
    ["\u0000nulo\u001B[31mvermelho", "nulo [31mvermelho"],
    ["abc\u202Efdp.exe", "abcfdp.exe"],
    ["\u2067a\u2069\u200Fb", "ab"],
    ["zero\u200Bwidth\uFEFF", "zerowidth"],
    ["  dois  espaços\u00A0", "dois espaços"],
    ["👨‍👩‍👧 é e\u0301", "👨‍👩‍👧 é e\u0301"],
    ["مرحبا", "مرحبا"],
    ["meio \uD83D par", "meio \uFFFD par"],
    ["\"><script>&'", "\"><script>&'"],
  ])("%p becomes %p", (text, expected) => {
    expect(singleLine(text)).toBe(expected);
  });

  test("is one line, well formed, and stays as it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const line = singleLine(text);
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u);
        expect(line.isWellFormed()).toBe(true);
        expect(singleLine(line)).toBe(line);
      }),
    );
  });
});
