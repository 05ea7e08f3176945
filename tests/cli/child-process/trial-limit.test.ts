import { expect, test } from "bun:test";
import { trialLimitMs } from "../../../cli/child-process/trial-limit.ts";

test.each([
  ["the command's own limit after a quick look-up", 1, 800, 800],
  ["six look-ups after a slow one", 700, 800, 4_200],
  ["five seconds at most", 900, 800, 5_000],
  ["five seconds where the command has no limit of its own", 1, undefined, 5_000],
])("trialLimitMs() is %s", (_what, lookUpMs, limitMs, expected) =>
  expect(trialLimitMs(lookUpMs, limitMs)).toBe(expected),
);
