import { describe, expect, test } from "bun:test";
import { Temporal } from "../../../lib/time/temporal.ts";
import { announceWait, announceWaitEnd } from "../../../lib/weekly/outage/announce-wait.ts";
import { beginWait } from "../../../lib/weekly/outage/wait.ts";
import { recordingLog } from "../support/weekly-fixture.ts";

const UNTIL = Temporal.Instant.from("2026-11-23T11:05:59.7Z");

function listeners() {
  const log = recordingLog();
  const notes: (string | null)[] = [];
  const progress = {
    setTotal() {},
    advance() {},
    end() {},
    setNote: (note: string | null) => notes.push(note),
  };
  return { log, notes, told: { log, progress } as never };
}

describe("announceWait()", () => {
  test.each([
    ["tripped", "break off"],
    ["short", "second pass"],
  ] as const)(
    "says of a %s wait until when, in São Paulo's time on the progress line, and what comes then",
    (kind, then) => {
      const { log, notes, told } = listeners();
      announceWait(told, beginWait(kind, 0, 60_000), UNTIL);
      expect(log.lines).toMatchObject([
        {
          level: "warn",
          fields: {
            ...{ code: "APP_NOT_ANSWERING", waitsFor: "application" },
            ...{ until: "2026-11-23T11:06:00Z", afterwards: then },
          },
        },
      ]);
      expect(notes).toEqual(["waiting for the application until 08:05 (São Paulo)"]);
    },
  );
});

describe("announceWaitEnd()", () => {
  test.each([
    ["answered", "info", /answers again/],
    ["second_pass", "warn", /still does not answer/],
  ] as const)("says of %s how long the run waited, and clears the progress line", (end, level, msg) => {
    const { log, notes, told } = listeners();
    announceWaitEnd(told, beginWait("short", 30_000, 60_000), end, 75_400);
    expect(log.lines).toMatchObject([
      { level, msg: expect.stringMatching(msg), fields: { waitedSeconds: 45 } },
    ]);
    expect(notes).toEqual([null]);
  });
});
