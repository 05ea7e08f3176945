import { expect, test } from "bun:test";
import { backoffMs } from "../../../lib/webhook/delivery/backoff.ts";

test.each([
  [1, 1_000, 1_000],
  [2, 1_000, 2_000],
  [5, 8_000, 16_000],
  [9, 128_000, 256_000],
  [10, 150_000, 300_000],
  [1_000_000, 150_000, 300_000],
])("backoffMs(%d) is between %d and %d", (failures, least, most) => {
  expect([backoffMs(failures, () => 0), backoffMs(failures, () => 1)]).toEqual([least, most]);
});
