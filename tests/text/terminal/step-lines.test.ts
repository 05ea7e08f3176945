import { expect, test } from "bun:test";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import { stepLines } from "../../../lib/text/terminal/step-lines.ts";
import { terminal } from "../support/terminal.ts";

test("stepLines() keeps a command whole, on a line of its own where it has to be", () => {
  expect(stepLines("Ask: opsctl deliveries look-up 1", terminal(40))).toEqual([
    "  Ask: opsctl deliveries look-up 1",
  ]);
  expect(stepLines("Ask again, and wait: opsctl deliveries look-up 1", terminal(20))).toEqual([
    "  Ask again, and",
    "  wait:",
    "    opsctl deliveries look-up 1",
  ]);
});

test("stepLines() wraps words, and does so where nothing says how wide the output is", () => {
  expect(stepLines("one two three", terminal(9))).toEqual(["  one two", "  three"]);
  expect(stepLines("word ".repeat(40).trim(), NO_TERMINAL)).toHaveLength(3);
});
