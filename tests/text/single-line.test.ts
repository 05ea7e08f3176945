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
    ["\u3164", ""],
    ["\u115F\u1160\uFFA0", ""],
    [" \u2800 \u2800", ""],
    ["\u034F\uFE0F\u{E0100}", ""],
    ["\u{E0001}\u{E0041}\u{E007F}", ""],
    ["\u200D\u200C", ""],
    ["\u3164\n\u2800Padaria", "Padaria"],
    ["ac\u3164me\u{E0041} a\uFE0Fb 1\uFE0F a\u200Db", "acme ab 1 ab"],
    ["می\u200Cخواهم", "می\u200Cخواهم"],
    ["❤️ 🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "❤️ 🏴"],
    ["1️⃣ 한국", "1️⃣ 한국"],
  ])("%p becomes %p", (text, expected) => {
    expect(singleLine(text)).toBe(expected);
  });

  // As people write them: emoji of several characters, joiners between letters and at the end of a word.
  test.each([
    ...[
      "👩🏽‍💻",
      "🏳️‍🌈",
      "🏃🏽‍♀️‍➡️",
      "☎︎",
      "™️",
      "🇧🇷",
      "👍🏿",
      "क्\u200Dष",
      "ශ්\u200Dරී",
      "葛\u{E0100}城",
      "नन\u094D\u200D",
    ],
    ...["നന്\u200D", "അവന്\u200D വന്നു", "خانه\u200C", "خانه\u200C، کتاب", "ᠠ\u180B", "שלום", "10 °C – 5 €"],
  ])("%p stays as it is", (text) => {
    expect(singleLine(text)).toBe(text);
  });

  test.each([
    ["1\uFE0F2", "12"],
    ["❤\uFE0F\uFE0F", "❤\uFE0F"],
    ["خانه\u200C\u200C", "خانه\u200C"],
    ["a\u180Bb", "ab"],
    ["a\u{E0061}\u{E0062}\u{E0063}\u{E007F}b", "ab"],
    ["🏴\u{E0061}\u{E0062}\u{E0063}", "🏴"],
    ["a\u00AD\u061C\uFFF9\u{1D173}b", "ab"],
  ])("%j, out of place, becomes %j", (text, expected) => {
    expect(singleLine(text)).toBe(expected);
  });

  test("begins with what can be seen, or is empty", () => {
    const unseen = fc.constantFrom(
      "\u3164",
      "\u115F",
      "\u2800",
      "\u034F",
      "\uFE0F",
      "\u{E0041}",
      "\u200B",
      " ",
      "\n",
    );
    const text = fc.tuple(fc.string({ unit: unseen }), fc.constantFrom("", "a", "é", "👍🏽", "한"));
    fc.assert(
      fc.property(text, fc.string({ unit: unseen }), ([before, visible], after) => {
        const line = singleLine(before + visible + after);
        expect(line.startsWith(visible)).toBe(true);
        expect(line === "").toBe(visible === "");
      }),
    );
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
