import { describe, expect, test } from "bun:test";
import { Temporal } from "../../../lib/time/temporal.ts";
import { recentClock } from "../../../lib/weekly/context/recent-clock.ts";

function clockAt(instant: string) {
  let [ms, reads] = [0, 0];
  const read = async () => {
    reads += 1;
    return Temporal.Instant.from(instant).add({ milliseconds: ms });
  };
  const now = recentClock(read, () => ms);
  return {
    now,
    pass: (more: number) => {
      ms += more;
    },
    reads: () => reads,
  };
}

describe("recentClock()", () => {
  test("a reading stands for five seconds", async () => {
    const { now, pass, reads } = clockAt("2026-11-23T11:00:00Z");
    const first = await now();
    pass(5_000);
    expect(await now()).toEqual(first);
    expect(reads()).toBe(1);
    pass(1);
    expect((await now()).toString()).toBe("2026-11-23T11:00:05.001Z");
    expect(reads()).toBe(2);
  });

  test.each([
    ["2026-11-24T02:58:59Z", 1],
    ["2026-11-24T02:59:00Z", 2],
    ["2026-11-24T02:59:59Z", 2],
  ])("a minute before midnight in São Paulo it is asked each time: %s", async (instant, expected) => {
    const { now, reads } = clockAt(instant);
    await now();
    await now();
    expect(reads()).toBe(expected);
  });

  test("a failed reading is not kept", async () => {
    const read = async () => {
      throw new Error("away");
    };
    const now = recentClock(read, () => 0);
    await expect(now()).rejects.toThrow("away");
    await expect(now()).rejects.toThrow("away");
  });
});
