import { expect, test } from "bun:test";
import { isToCome } from "../../lib/time/to-come.ts";

test("isToCome() allows another clock to be ahead by a minute", () => {
  expect([0, 1, -59_999, -60_000].map(isToCome)).toEqual([false, false, false, false]);
  expect([-60_001, Number.NEGATIVE_INFINITY].map(isToCome)).toEqual([true, true]);
});
