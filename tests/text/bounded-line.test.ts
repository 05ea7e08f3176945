import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { boundedLine } from "../../lib/text/bounded-line.ts";
import { singleLine } from "../../lib/text/single-line.ts";
import { truncate } from "../../lib/text/truncate.ts";

describe("boundedLine()", () => {
  test.each([
    ["", ""],
    [" \u200B\n", ""],
    ["Padaria\u202E do\nZé ", "Padaria do Zé"],
    ["palavra ".repeat(10), "palavra palavra…"],
    ["x".repeat(1_000_000), `${"x".repeat(19)}…`],
    // What is cleaned away fills all that is read: nothing visible is known of the rest.
    ["\u200B".repeat(1_000), ""],
    // Little is left of what is read: the mark says that there was more.
    [`ab${"\u200B".repeat(1_000)}cd`, "ab…"],
  ])("of %p is %p", (text, line) => {
    expect(boundedLine(text, 20)).toBe(line);
  });

  test("is the whole line, cut, for a text that is read to its end", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 160 }), (text) => {
        if (text.length <= 160) expect(boundedLine(text, 20)).toBe(truncate(singleLine(text), 20));
      }),
    );
  });

  test("fits and is well-formed, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        const line = boundedLine(text, 20);
        expect(line.length).toBeLessThanOrEqual(20);
        expect(line.isWellFormed()).toBe(true);
      }),
    );
  });
});
