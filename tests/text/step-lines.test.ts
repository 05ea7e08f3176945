import { expect, test } from "bun:test";
import { stepLines } from "../../lib/text/step-lines.ts";

test("stepLines() keeps a command whole, on a line of its own where it has to be", () => {
  expect(stepLines("Ask: opsctl deliveries look-up 1", 40)).toEqual(["  Ask: opsctl deliveries look-up 1"]);
  expect(stepLines("Ask: opsctl deliveries look-up 1", 20)).toEqual([
    "  Ask:",
    "    opsctl deliveries look-up 1",
  ]);
});

test("stepLines() wraps words, and does so where nothing says how wide the output is", () => {
  expect(stepLines("one two three", 9)).toEqual(["  one two", "  three"]);
  expect(stepLines("word ".repeat(40).trim(), null)).toHaveLength(3);
});
