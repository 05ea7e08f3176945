import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { denoBinary } from "../support/deno-binary.ts";
import { WINDOW_VECTORS } from "./support/vectors.ts";

const PROBE = join(import.meta.dirname, "support/vectors-probe.ts");

// Each runtime brings zone data and a Temporal of its own.
test.each([
  ["Bun", () => [process.execPath]],
  ["Deno", () => [denoBinary(), "run", "-A", "--no-lock"]],
])("week and report day are the same under %s", (_name, command) => {
  const [program, ...args] = command() as [string, ...string[]];
  const printed = execFileSync(program, [...args, PROBE], { encoding: "utf8" });
  const expected = WINDOW_VECTORS.map(([now, day, start, end, _hours, _shown, week]) => [
    now,
    day,
    start,
    end,
    week,
  ]);
  expect(JSON.parse(printed)).toEqual(expected);
});
