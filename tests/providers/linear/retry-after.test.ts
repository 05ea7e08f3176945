import { describe, expect, test } from "bun:test";
import { trackerRetryMs } from "../../../lib/providers/linear/retry-after.ts";

const NOW_MS = 1_795_273_200_000;
const inSeconds = (seconds: number) => String(NOW_MS / 1_000 + seconds);
const inMilliseconds = (seconds: number) => String(NOW_MS + seconds * 1_000);

describe("trackerRetryMs()", () => {
  test.each<[string, Record<string, string>, number]>([
    ["nothing", {}, 1_000],
    ["retry-after", { "retry-after": "12", "x-ratelimit-requests-reset": inSeconds(60) }, 12_000],
    ["a date", { "retry-after": new Date(NOW_MS + 30_000).toUTCString() }, 30_000],
    ["retry-after too long", { "retry-after": "86400" }, 3_600_000],
    ["retry-after zero", { "retry-after": "0" }, 1_000],
    ["retry-after no number", { "retry-after": "soon" }, 1_000],
    ["requests in seconds", { "x-ratelimit-requests-reset": inSeconds(60) }, 60_000],
    ["requests in milliseconds", { "x-ratelimit-requests-reset": inMilliseconds(60) }, 60_000],
    ["complexity", { "x-ratelimit-complexity-reset": inSeconds(45) }, 45_000],
    [
      "the later of both",
      { "x-ratelimit-requests-reset": inSeconds(60), "x-ratelimit-complexity-reset": inMilliseconds(90) },
      90_000,
    ],
    [
      "the empty one of both",
      {
        "x-ratelimit-requests-reset": inSeconds(60),
        "x-ratelimit-requests-remaining": "0",
        "x-ratelimit-complexity-reset": inSeconds(90),
        "x-ratelimit-complexity-remaining": "1000",
      },
      60_000,
    ],
    ["a reset in the past", { "x-ratelimit-requests-reset": inSeconds(-60) }, 1_000],
    ["a reset in a day", { "x-ratelimit-requests-reset": inSeconds(86_400) }, 3_600_000],
    ["a reset that is no time", { "x-ratelimit-requests-reset": "-5" }, 1_000],
    ["a reset beyond all times", { "x-ratelimit-requests-reset": "9".repeat(40) }, 1_000],
  ])("%s", (_row, headers, expected) => {
    expect(trackerRetryMs(new Headers(headers), NOW_MS)).toBe(expected);
  });
});
