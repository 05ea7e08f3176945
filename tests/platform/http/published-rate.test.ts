import { describe, expect, test } from "bun:test";
import { parsePublishedRate } from "../../../lib/platform/http/published-rate.ts";

const NOW_MS = Date.parse("2026-03-16T11:00:00Z");
const rateOf = (headers: Record<string, string>) => parsePublishedRate(new Headers(headers), NOW_MS);
const nothing = { limit: null, windowMs: null, remaining: null, resetMs: null, retryAfterMs: null };

describe("parsePublishedRate()", () => {
  test("reads what the provider publishes on every answer", () => {
    const headers = {
      "ratelimit-limit": "2",
      "ratelimit-remaining": "1",
      "ratelimit-reset": "1",
      "ratelimit-policy": "2;w=1",
    };
    expect(rateOf(headers)).toEqual({
      limit: 2,
      windowMs: 1000,
      remaining: 1,
      resetMs: 1000,
      retryAfterMs: null,
    });
  });

  test("finds nothing where nothing is published", () => {
    expect(rateOf({})).toEqual(nothing);
  });

  test.each([
    ["2;w=1", 2, 1000],
    [" 100 ; w=60 ;burst=5", 100, 60_000],
    ["5;w=1, 100;w=60", 5, 1000],
    ["5;w=3600", 5, 3_600_000],
    ["5;w=3601", null, null],
    ["0;w=1", null, null],
    ["5;w=0", null, null],
    ["5", null, null],
    ["-5;w=1", null, null],
    ["1e3;w=1", null, null],
    ["99999;w=1", null, null],
    [`${"9".repeat(5000)};w=1`, null, null],
  ])("reads the policy %p", (policy, limit, windowMs) => {
    expect(rateOf({ "ratelimit-policy": policy })).toEqual({ ...nothing, limit, windowMs });
  });

  test.each([
    ["7", 7_000],
    ["0", 0],
    ["1.5", 1_500],
    ["86400", 3_600_000],
    ["Mon, 16 Mar 2026 11:00:09 GMT", 9_000],
    ["Mon, 16 Mar 2026 10:00:00 GMT", 0],
    ["Tue, 16 Mar 2027 10:00:00 GMT", 3_600_000],
    ["-1", null],
    ["soon", null],
    ["Infinity", null],
    ["2026-03-16", null],
  ])("reads retry-after %p", (value, retryAfterMs) => {
    expect(rateOf({ "retry-after": value }).retryAfterMs).toBe(retryAfterMs);
  });

  test.each([
    ["a day ahead", "Sun, 15 Mar 2026 11:00:00 GMT", "Sun, 15 Mar 2026 11:00:09 GMT", 9_000],
    ["a day behind", "Tue, 17 Mar 2026 11:00:00 GMT", "Tue, 17 Mar 2026 11:00:09 GMT", 9_000],
    ["right, and the answer's date is none", "yesterday", "Mon, 16 Mar 2026 11:00:09 GMT", 9_000],
  ])("waits as long as was asked for when this host's clock is %s", (_clock, date, value, retryAfterMs) => {
    expect(rateOf({ date, "retry-after": value }).retryAfterMs).toBe(retryAfterMs);
  });

  test.each(["-1", "NaN", "", "1,1", "9999999999"])("does not believe a remaining of %p", (value) => {
    expect(rateOf({ "ratelimit-remaining": value }).remaining).toBeNull();
  });
});
