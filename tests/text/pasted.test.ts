import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { trimPasted, withoutInvisible } from "../../lib/text/pasted.ts";

describe("trimPasted()", () => {
  test.each([
    ["a b", "a b"],
    ["  a b\t", "a b"],
    ["\u00A0a\u202F", "a"],
    ["\u200B\uFEFFa\u200D\u2060", "a"],
    ["\u202Aa\u202C\u200E\u061C", "a"],
    ["\u00ADa\r\n", "a"],
    ["\u3000a\u2003", "a"],
    ["\u2800a b\u2800\u2800", "a b"],
    ["a\u200Bb", "a\u200Bb"],
    ["👩‍👩‍👧‍👦 ", "👩‍👩‍👧‍👦"],
    [" \u200B\n", ""],
    ["", ""],
  ])("of %j is %j", (raw, trimmed) => {
    expect(trimPasted(raw)).toBe(trimmed);
  });

  test("leaves nothing to trim, and loses nothing that is seen", () => {
    const part = fc.constantFrom(
      " ",
      "\u00A0",
      "\u200B",
      "\uFEFF",
      "\u2800",
      "\n",
      "a",
      "é",
      "\u{1F600}",
      "\uD83D",
    );
    fc.assert(
      fc.property(fc.string({ unit: part }), (raw) => {
        const trimmed = trimPasted(raw);
        expect(trimPasted(trimmed)).toBe(trimmed);
        expect(raw).toContain(trimmed);
        expect(withoutInvisible(trimmed).replace(/\s/g, "")).toBe(withoutInvisible(raw).replace(/\s/g, ""));
      }),
    );
  });

  test("takes no longer for a million blanks than for as many letters", () => {
    expect(trimPasted(`a${" ".repeat(1_000_000)}b`)).toHaveLength(1_000_002);
  });
});

test("withoutInvisible() keeps what is seen, blanks included", () => {
  expect(withoutInvisible("\u200B11\u00AD 98765\u200D-4321\uFEFF\u2800")).toBe("11 98765-4321");
});
