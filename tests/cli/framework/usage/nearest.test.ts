import { expect, test } from "bun:test";
import { nearest } from "../../../../cli/framework/usage/nearest.ts";

test.each([
  ["weekyl", "weekly"],
  ["week", "weekly"],
  ["Migrate", "migrate"],
  ["delivery", undefined],
  ["deliverie", "deliveries"],
  ["x", undefined],
  ["", undefined],
])("nearest() to %j is %p", (typed, expected) => {
  expect(nearest(typed, ["weekly", "migrate", "deliveries"])).toBe(expected);
});
