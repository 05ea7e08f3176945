/** Which lines of a crontab start something, and when: the meaning of five fields, however they are written. */
import { describe, expect, test } from "bun:test";
import { cronLines, isSameSchedule, longestPauseMinutes } from "../../lib/host/cron.ts";

describe("isSameSchedule()", () => {
  test.each([
    ["0 11 * * MON", "0 11 * * 1", true],
    ["0 11 * * mon-mon", "00 11 * * 1", true],
    ["0 11 */1 jan-dec 1", "0 11 * * 1", true],
    ["0 11 * * 7", "0 11 * * 0", true],
    ["0 11 * * 0-7", "0 11 * * *", true],
    ["0,30 * * * *", "*/30 * * * *", true],
    ["0-59/5 * * * *", "*/5 * * * *", true],
    // Of a date and a weekday that are both restricted, either is enough: every day.
    ["0 11 1-31 * 1", "0 11 * * 1", false],
    ["30 11 * * 1", "0 11 * * 1", false],
    ["0 11 * * 1,2", "0 11 * * 1", false],
    ["0 11 * feb-dec 1", "0 11 * * 1", false],
  ])("compares %s with %s: %p", (one, other, isSame) => {
    expect(isSameSchedule(one, other)).toBe(isSame);
  });

  test.each([
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * * foo *",
    "* * * * 8",
    "5-1 * * * *",
    "*/0 * * * *",
  ])("is never true for %s, which is no schedule", (schedule) => {
    expect(isSameSchedule(schedule, schedule)).toBe(false);
  });
});

describe("longestPauseMinutes()", () => {
  test.each([
    ["* * * * *", 1],
    ["*/2 * * * *", 2],
    ["*/7 * * * *", 7],
    ["0 * * * *", 60],
    ["58,59 * * * *", 59],
    ["* 8-18 * * *", null],
    ["* * * * 1-5", null],
  ])("of %s is %p", (schedule, minutes) => {
    expect(longestPauseMinutes(schedule)).toBe(minutes);
  });
});

describe("cronLines()", () => {
  test("finds the lines with a schedule, and leaves comments, variables and reboots out", () => {
    const text = [
      "# 0 11 * * 1 opsctl no",
      'MAILTO="a b c d e f g"',
      "SHELL=/bin/sh",
      "",
      "  0\t11  *  * 1 opsctl exec opsctl weekly --json >> log 2>&1",
      "@reboot root no",
      "@hourly root no",
    ].join("\n");
    expect(cronLines(text)).toEqual([
      { schedule: "0 11 * * 1", user: "opsctl", command: "exec opsctl weekly --json >> log 2>&1" },
    ]);
  });
});
