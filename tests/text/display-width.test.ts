import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { displayWidth, fitToWidth, padToWidth, piecesOf } from "../../lib/text/display-width.ts";

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

describe("fitToWidth()", () => {
  test.each([
    ["Padaria", 7, "Padaria"],
    ["Padaria", 6, "Padar…"],
    ["Padaria do Zé", 9, "Padaria…"],
    ["株式会社", 7, "株式会…"],
    ["株式会社", 6, "株式…"],
    ["👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"],
    ["Padaria", 1, "…"],
    ["Padaria", 0, ""],
  ])("the text %p in %p columns becomes %p", (text, columns, expected) => {
    expect(fitToWidth(text, columns)).toBe(expected);
  });

  test("never takes more columns than there are, and keeps what fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), fc.nat(40), (text, columns) => {
        const fitted = fitToWidth(text, columns);
        expect(displayWidth(fitted)).toBeLessThanOrEqual(columns);
        if (displayWidth(text) <= columns) expect(fitted).toBe(text);
      }),
    );
  });
});

test("padToWidth() fills up by columns, not by characters", () => {
  expect(padToWidth("株", 4)).toBe("株  ");
  expect(padToWidth("Padaria", 4)).toBe("Padaria");
});

describe("piecesOf()", () => {
  test("breaks between visible characters, one that is wider than the piece alone", () => {
    expect(piecesOf("株式会社", 5)).toEqual(["株式", "会社"]);
    expect(piecesOf("👨‍👩‍👧👨‍👩‍👧", 3)).toEqual(["👨‍👩‍👧", "👨‍👩‍👧"]);
    expect(piecesOf("株式", 1)).toEqual(["株", "式"]);
    expect(piecesOf("abc", 3)).toEqual(["abc"]);
  });

  test("loses nothing, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 40 }),
        fc.integer({ min: 12, max: 40 }),
        (text, columns) => {
          const pieces = piecesOf(text, columns);
          expect(pieces.join("")).toBe(text);
          expect(pieces.filter((piece) => displayWidth(piece) > columns)).toEqual([]);
        },
      ),
    );
  });
});
