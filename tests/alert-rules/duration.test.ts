import { expect, test } from "bun:test";
import { parseDurationMs, renderDuration } from "../../lib/alert-rules/duration.ts";

test.each([
  ["0s", 0],
  ["0", 0],
  ["90s", 90_000],
  ["1m30s", 90_000],
  ["10m", 600_000],
  ["10m0s", 600_000],
  ["1d", 86_400_000],
  ["1w2d", 777_600_000],
  ["1y", 31_536_000_000],
  ["1h500ms", 3_600_500],
])("parseDurationMs(%p) is %d", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.each(["", "5", "m", "-5m", "1.5h", "5 m", "5m10h", "5m5m", "1e3s", "five"])(
  "parseDurationMs(%p) is no duration",
  (text) => {
    expect(parseDurationMs(text)).toBeNull();
  },
);

test.each([
  [0, "0s"],
  [90_000, "1m30s"],
  [600_000, "10m"],
  [86_400_000, "1d"],
  [3_600_500, "1h500ms"],
])("renderDuration(%d) is %p, and is read as the same", (ms, text) => {
  expect(renderDuration(ms)).toBe(text);
  expect(parseDurationMs(text)).toBe(ms);
});
