import { expect, test } from "bun:test";
import { OutageLog } from "../../../lib/platform/log/outage-log.ts";

const MINUTE_MS = 60_000;

function openLog() {
  const lines: unknown[] = [];
  const say = (level: string) => (msg: string, facts?: object) => void lines.push([level, msg, facts]);
  const log = { error: say("error"), warn: say("warn"), info: say("info") };
  const clock = { nowMs: 0 };
  const options = { log, problem: "broken", over: "whole", monotonicMs: () => clock.nowMs };
  return { lines, clock, outage: new OutageLog(options) };
}

test("a failure is told at once, then every five minutes with how often it came, and when it is over", () => {
  const { lines, clock, outage } = openLog();
  for (; clock.nowMs < 10 * MINUTE_MS; clock.nowMs += 1_000) outage.failed({ cause: "Error" });
  outage.worked();
  outage.worked();
  expect(lines).toEqual([
    ["error", "broken", { cause: "Error" }],
    ["error", "broken", { cause: "Error", times: 301 }],
    ["info", "whole", { times: 600 }],
  ]);
});

test("the next failure is a new one", () => {
  const { lines, outage } = openLog();
  outage.worked();
  for (let at = 0; at < 2; at += 1) {
    outage.failed({});
    outage.worked();
  }
  expect(lines).toHaveLength(4);
  expect(lines[3]).toEqual(["info", "whole", { times: 1 }]);
});
