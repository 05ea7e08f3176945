import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { parseLoadAverage, readLoadAverage } from "../../lib/sockets/load-average.ts";

describe("parseLoadAverage()", () => {
  test("reads the kernel's three averages", () => {
    expect(parseLoadAverage("0.44 1.41 12.82 1/95 26782\n")).toEqual({
      load1: 0.44,
      load5: 1.41,
      load15: 12.82,
    });
  });
  test.each(["", "0.44", "a b c", "-1.00 0.00 0.00 1/1 1"])("knows nothing of %p", (text) => {
    expect(parseLoadAverage(text)).toBeNull();
  });
});

describe("readLoadAverage()", () => {
  test("reads this host's", async () => {
    const load = await readLoadAverage();
    const [five] = readFileSync("/proc/loadavg", "utf8").split(" ").slice(1);
    expect(Math.abs((load?.load5 ?? Number.NaN) - Number(five))).toBeLessThan(1);
  });
  test("returns null where there is none", async () => {
    expect(await readLoadAverage("/proc/nothing")).toBeNull();
    expect(await readLoadAverage("/proc/self")).toBeNull();
  });
});
