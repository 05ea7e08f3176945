import { expect, test } from "bun:test";
import { LostSends } from "../../../../lib/webhook/delivery/sending/lost-sends.ts";

test("counts the lost sends of each row until it has ended", () => {
  const lost = new LostSends();
  for (const row of [1, 2, 1]) lost.add(row);
  expect([1, 2, 3].map((row) => lost.of(row))).toEqual([2, 1, 0]);
  lost.forget(1);
  expect([1, 2].map((row) => lost.of(row))).toEqual([0, 1]);
});

test("of more than ten thousand rows lets go of the one whose last send was lost longest ago", () => {
  const lost = new LostSends();
  for (let row = 0; row < 10_000; row += 1) lost.add(row);
  lost.add(0);
  lost.add(10_000);
  expect([0, 1, 2, 10_000].map((row) => lost.of(row))).toEqual([2, 0, 1, 1]);
});
