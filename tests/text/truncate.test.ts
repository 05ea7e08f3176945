import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { truncate } from "../../lib/text/truncate.ts";

const FAMILY = "👨‍👩‍👧‍👦";

describe("truncate()", () => {
  test.each([
    ["abc", 3, "abc"],
    ["abcd", 3, "ab…"],
    ["abcd", 1, ""],
    ["abcd", 0, ""],
    ["", 0, ""],
    [`ab${FAMILY}cd`, 8, "ab…"],
    [`${FAMILY}cd`, 5, ""],
    [`${FAMILY}cd`, FAMILY.length + 1, `${FAMILY}…`],
    ["cafe\u0301s", 5, "caf…"],
    ["a\r\nb", 3, "a…"],
    ["Alcance de 12.345 pessoas", 15, "Alcance de…"],
    ["uma frase inteira", 10, "uma frase…"],
    ["uma frase inteira", 11, "uma frase…"],
    ["x".repeat(40), 10, `${"x".repeat(9)}…`],
  ])("%p in %p units is %p", (text, maxUnits, expected) => {
    expect(truncate(text, maxUnits)).toBe(expected);
  });

  test.each([
    ["x/app.config", 10, "x/app…"],
    ["x/app.config", 6, "x/app…"],
    ["x/app.config", 12, "x/app.config"],
    ["x/app.conf e mais", 11, "x/app.conf…"],
    ["x 3.14159265358979", 8, "x…"],
    ["3.14159265358979", 8, "3.14159…"],
    [".config", 5, ".con…"],
    ["1.ação e", 5, "1…"],
  ])("%p in %p units is %p: nothing after a dot is halved", (text, maxUnits, expected) => {
    expect(truncate(text, maxUnits)).toBe(expected);
  });

  test("never exceeds the budget and never cuts inside a character", () => {
    const segmenter = new Intl.Segmenter("pt-BR", { granularity: "grapheme" });
    const unit = fc.oneof(
      fc.constantFrom(FAMILY, "e\u0301", "🇧🇷", "👍🏽", " ", "\r\n", "각", "क्षि", "\uD83D"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), fc.nat(60), (text, maxUnits) => {
        const short = truncate(text, maxUnits);
        expect(short.length).toBeLessThanOrEqual(maxUnits);
        if (short === text || short === "") return;
        expect(short.endsWith("…")).toBe(true);
        const kept = short.slice(0, -1);
        expect(text.startsWith(kept)).toBe(true);
        const boundaries = [...segmenter.segment(text)].map(({ index }) => index);
        expect(boundaries).toContain(kept.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("takes no longer for a megabyte", () => {
    expect(truncate("ação ".repeat(400_000), 20)).toBe(
      "ação ação ação ação…".slice(0, 19).trimEnd().concat("…"),
    );
  });
});
