import { describe, expect, test } from "bun:test";
import { backoffMs } from "../../../../lib/webhook/delivery/sending/backoff.ts";

describe("backoffMs()", () => {
  test("doubles from one second to five minutes", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((failures) => backoffMs(failures, () => 1));
    const seconds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300];
    expect(longest).toEqual(seconds.map((s) => s * 1_000));
  });

  test("is spread over the upper half of that, and never below a second", () => {
    expect(backoffMs(1, () => 0)).toBe(1_000);
    expect(backoffMs(2, () => 0)).toBe(1_000);
    expect(backoffMs(5, () => 0)).toBe(8_000);
    expect(backoffMs(5, () => 0.5)).toBe(12_000);
    expect(backoffMs(50, () => 0)).toBe(150_000);
  });

  test("stays at five minutes after a million failures", () => {
    expect(backoffMs(1_000_000, () => 1)).toBe(300_000);
  });
});
