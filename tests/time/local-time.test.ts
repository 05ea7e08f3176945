import { describe, expect, test } from "bun:test";
import { localTime } from "../../lib/time/local-time.ts";

describe("localTime()", () => {
  test.each([
    ["2026-11-23T11:00:02Z", "2026-11-23 08:00:02"],
    ["2026-11-24T03:00:00Z", "2026-11-24 00:00:00"],
    ["2026-11-23T02:59:59.999999Z", "2026-11-22 23:59:59"],
    // Summer time, which the zone had until 2019.
    ["2018-11-05T10:00:00Z", "2018-11-05 08:00:00"],
  ])("shows %s as %s in São Paulo", (instant, expected) => {
    expect(localTime(instant)).toBe(expected);
  });
});
