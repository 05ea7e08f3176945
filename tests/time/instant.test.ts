import { expect, test } from "bun:test";
import { formatInstant } from "../../lib/time/instant.ts";
import { Temporal } from "../../lib/time/temporal.ts";

test.each([
  ["2026-11-16T00:00:00-03:00", "2026-11-16T03:00:00Z"],
  ["2026-11-23T11:00:00.120Z", "2026-11-23T11:00:00.12Z"],
  ["2026-11-23T11:00:00.123456Z", "2026-11-23T11:00:00.123456Z"],
])("formatInstant() of %s is in UTC with Z", (text, expected) => {
  expect(formatInstant(Temporal.Instant.from(text))).toBe(expected);
});
