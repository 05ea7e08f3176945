import { describe, expect, test } from "bun:test";
import { breakWords, displayWidth } from "../../lib/text/display-width.ts";
import { boundedLine } from "../../lib/text/truncate.ts";

describe("displayWidth()", () => {
  test.each([
    ["", 0],
    ["Padaria", 7],
    ["São João", 8],
    ["Sa\u0303o", 3],
    ["株式会社", 8],
    ["ﾊﾝｶｸ", 4],
    ["ＡＢ", 4],
    ["한국", 4],
    ["🎉", 2],
    ["👨‍👩‍👧", 2],
    ["🇧🇷", 2],
    ["❤️", 2],
    ["a\u200bb", 2],
    ["1️⃣", 2],
    ["👍🏽", 2],
    ["مخبز", 4],
    ["שָׁלוֹם", 4],
    ["e\u0301\u0302\u0303\u0323", 1],
    ["ไทย", 3],
    ["นี้", 1],
    ["…—“”", 4],
  ])("the text %p is %p columns wide", (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

test("breakWords() breaks between visible characters, and only words that are too wide", () => {
  expect(breakWords("a 株式会社", 5)).toBe("a 株式 会社");
  expect(breakWords("👨‍👩‍👧👨‍👩‍👧", 3)).toBe("👨‍👩‍👧 👨‍👩‍👧");
  expect(breakWords("株式", 1)).toBe("株 式");
  expect(breakWords("abc", 3)).toBe("abc");
});

describe("boundedLine()", () => {
  test.each([
    ["Padaria", 7, "Padaria"],
    ["Padaria", 6, "Padar…"],
    ["Padaria\ndo Zé", 9, "Padaria…"],
    ["👨‍👩‍👧👨‍👩‍👧", 10, "👨‍👩‍👧…"],
    ["Padaria", 1, ""],
  ])("the text %p in %p units becomes %p", (text, units, expected) => {
    expect(boundedLine(text, units)).toBe(expected);
  });
});
