import { expect, test } from "bun:test";
import { displayWidth } from "../../lib/text/display-width.ts";
import { wrapText } from "../../lib/text/wrap.ts";

test("wrapText() breaks between words, indents what follows, and breaks no word", () => {
  expect(wrapText("one two three", 20)).toEqual(["one two three"]);
  expect(wrapText("one two three", 7, "  ")).toEqual(["one two", "  three"]);
  expect(wrapText("a 3f2b8c1e-5d47-4a90 b", 8, "  ")).toEqual(["a", "  3f2b8c1e-5d47-4a90", "  b"]);
  expect(wrapText("  one two three", 9, "    ")).toEqual(["  one two", "    three"]);
  expect(wrapText("", 8)).toEqual([""]);
});

test("wrapText() counts as it is told to", () => {
  expect(wrapText("株式 会社 b", 6, "", displayWidth)).toEqual(["株式", "会社 b"]);
});
