import { expect, test } from "bun:test";
import { lastReadings } from "../../lib/sockets/last-readings.ts";

const TIME = "2026-11-16T12:00:00.000Z";
const timeMs = Date.parse(TIME);
const line = (total: unknown, time: unknown = TIME) => JSON.stringify({ time, total });

test("lastReadings() reads the last line, after a first one that begins in the middle", () => {
  const text = `2026","total":1}\n${line(7, "2026-11-16T11:55:00.000Z")}\n${line(8)}\n`;
  expect(lastReadings(text)).toEqual({ timeMs, total: 8 });
});

test.each([null, "8", undefined])("lastReadings() takes %p for a total that is not known", (total) => {
  expect(lastReadings(line(total))).toEqual({ timeMs, total: null });
});

test.each(["", "\n", "not JSON", "null", "[]", "7", line(8, null), line(8, 8), line(8, "soon")])(
  "lastReadings() knows nothing of %j",
  (text) => {
    expect(lastReadings(text)).toBeNull();
  },
);
