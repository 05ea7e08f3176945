/** Which characters cannot be seen, and which of them people write on purpose. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { escapeUnseen, replaceUnseen } from "../../lib/platform/replace-unseen.ts";

const WRITTEN = [
  ...[
    "São Paulo",
    "e\u0301",
    "日本",
    "한국",
    "مرحبا",
    "שלום",
    "Ünïcödé ñ",
    "10 °C – 5 €",
    "\u00A0",
    "\t\n\u001B",
  ],
  ...["👨‍👩‍👧", "👩🏽‍💻", "🏳️‍🌈", "👁️‍🗨️", "🏃🏽‍♀️‍➡️", "❤️", "☎︎", "™️", "1️⃣ #️⃣", "🇧🇷", "👍🏿"],
  "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
  // A joiner between letters: Persian, Hindi, Sinhala; a variant of an ideograph.
  ...["می\u200Cخواهم", "क्\u200Dष", "ශ්\u200Dරී", "葛\u{E0100}城"],
  // At the end of a word: Malayalam, Persian; a Mongolian letter in another form.
  ...["നന്\u200D", "അവന്\u200D വന്നു", "خانه\u200C", "خانه\u200C، کتاب", "ᠠ\u180B", "ᠭ\u180F"],
];

describe("replaceUnseen()", () => {
  test.each(WRITTEN)("leaves %p, as people write it", (text) => {
    expect(replaceUnseen(text, () => "?")).toBe(text);
  });

  test.each([
    ...["\u202E", "\u2066", "\u200E", "\u061C", "\u2028", "\u2029", "\u200B", "\u2060", "\uFEFF", "\u00AD"],
    ...["\u3164", "\u115F", "\u1160", "\uFFA0", "\u2800", "\u034F", "\u180E", "\u17B4", "\uFFF9", "\uFFFB"],
    ...["\u{1D173}", "\u{1D17A}", "\u{E0000}", "\u{E0041}", "\u{E007F}", "\u{E0FFF}"],
    ...["\u200C", "\u200D", "\uFE00", "\uFE0F", "\u{E0100}", "\u{E01EF}"],
  ])("replaces %j between two letters, before and behind them", (hidden) => {
    for (const text of [`a${hidden}b`, `${hidden}ab`, `ab${hidden}`, hidden])
      expect(replaceUnseen(text, () => "?")).toBe(text.replace(hidden, "?"));
  });

  test.each([
    ["a digit, which is no keycap", "1\uFE0F2", "1?2"],
    ["two selectors behind one emoji", "❤\uFE0F\uFE0F", "❤\uFE0F?"],
    ["a joiner that joins an emoji with nothing", "👩\u200D", "👩?"],
    ["a joiner between an emoji and a letter", "👩\u200Da", "👩?a"],
    ["two joiners at a word's end", "خانه\u200C\u200C", "خانه??"],
    ["a joiner between letters of two scripts", "ی\u200Ca", "ی?a"],
    ["a joiner before a mark of direction", "ی\u200C\u202E", "ی??"],
    ["a Mongolian selector behind another letter", "a\u180B", "a?"],
    ["two Mongolian selectors", "ᠠ\u180B\u180C", "ᠠ\u180B?"],
    ["two joiners between letters", "ی\u200C\u200Cخ", "ی??خ"],
    ["tags that are no flag's", "a\u{E0061}\u{E0062}\u{E0063}\u{E007F}", "a????"],
    ["tags of a flag that does not end", "🏴\u{E0061}\u{E0062}\u{E0063}", "🏴???"],
    ["more tags than a region has", `🏴${"\u{E0061}".repeat(7)}\u{E007F}`, `🏴${"?".repeat(8)}`],
  ])("replaces, out of place, %s", (_, text, expected) => {
    expect(replaceUnseen(text, () => "?")).toBe(expected);
  });

  test("leaves nothing to replace, and what is left is part of the text", () => {
    const unit = fc.constantFrom(
      ...["a", "1", "ی", "क", "ᠠ", "\u180B", "\u2028", "葛", "👩", "🏽", "❤", "🏴", " "],
      ...["\u200B", "\u200C", "\u200D", "\uFE0F", "\u20E3", "\u{E0100}", "\u{E0061}", "\u{E007F}", "\u202E"],
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        const left = replaceUnseen(text, () => "");
        expect(replaceUnseen(left, () => "")).toBe(left);
        expect(left).not.toMatch(/[\u200B\u202E]/);
      }),
    );
  });
});

describe("escapeUnseen()", () => {
  test("writes JSON's escapes, two for a character of two units", () => {
    expect(escapeUnseen("a\u202Eb\u{E0041}\uFEFF")).toBe("a\\u202eb\\udb40\\udc41\\ufeff");
  });
});
