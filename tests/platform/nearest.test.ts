import { expect, test } from "bun:test";
import { nearest } from "../../lib/platform/nearest.ts";

test.each([
  ["weekyl", "weekly"],
  ["week", "weekly"],
  ["Migrate", "migrate"],
  ["delivery", undefined],
  ["deliverie", "deliveries"],
  ["migarte", "migrate"],
  ["tcsh", undefined],
  ["bsah", "bash"],
  ["x", undefined],
  ["", undefined],
])("nearest() to %j is %p", (typed, expected) => {
  expect(nearest(typed, ["weekly", "migrate", "deliveries", "bash", "zsh"])).toBe(expected);
});

test("takes no letter of a name that is far shorter than the word", () => {
  const letters = () => {
    throw new Error("compared letter by letter");
  };
  const plain = Object.defineProperty({ length: 6 }, 0, { get: letters });
  const name = { toLowerCase: () => ({ replace: () => plain }) };
  expect(nearest("a".repeat(9), [name as unknown as string])).toBeUndefined();
  expect(() => nearest("a".repeat(8), [name as unknown as string])).toThrow("letter by letter");
});
