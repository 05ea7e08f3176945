import { describe, expect, test } from "bun:test";
import { withoutArrows } from "../../lib/text/without-arrows.ts";

describe("withoutArrows()", () => {
  test.each([
    "->",
    "-->",
    "=>",
    "- >",
    "\u2013>",
    "\u2014\u203a",
    "\u2192",
    "\u27f6",
    "\u21d2",
    "\u2794",
    "-\n>",
    "-> >",
    "\u23af\ufe65",
    "\u30fc>",
    "\u25b7",
    "-\ufe65",
    "\u2212\u1433",
    "\u2026>",
    "\u207b\u227b",
  ])("leaves nothing of %j", (arrow) =>
    expect(withoutArrows(`/x ${arrow} sudo sh /y`)).toBe("/x - sudo sh /y"),
  );

  test.each([
    "grant <role> to <login>",
    "--env-dir /x",
    "a > b, c >= 15",
    "sslmode=require",
    "a-b_c=d",
    "Padaria São João, 2",
  ])("leaves %j", (text) => expect(withoutArrows(text)).toBe(text));

  test("makes one line of it", () => expect(withoutArrows("a\n\u001b[2Jb")).toBe("a [2Jb"));
});
