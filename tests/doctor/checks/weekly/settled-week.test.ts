import { describe, expect, test } from "bun:test";
import { renewalOf } from "../../../../lib/doctor/checks/weekly/settled-week.ts";
import { Temporal } from "../../../../lib/time/temporal.ts";
import { lastRun } from "../../../status/support/run.ts";
import { weekOf } from "../../../weekly/announce/support.ts";

const FAILED = { status: "failed", error: { code: "APP_HTTP_401" } };

describe("renewalOf()", () => {
  test.each<[string, object, string, "run" | "monday" | null]>([
    ["on its Monday, another run", {}, "2026-11-23T15:00:00Z", "run"],
    ["until the last instant of that day", {}, "2026-11-24T02:59:59.999Z", "run"],
    ["from midnight on, the next Monday", {}, "2026-11-24T03:00:00Z", "monday"],
    ["on the Sunday after, the next Monday", {}, "2026-11-30T02:59:59Z", "monday"],
    ["on the next Monday, its run until that is due", {}, "2026-11-30T11:14:59Z", "monday"],
    ["nothing once that run is late", {}, "2026-11-30T11:15:00Z", null],
    ["nothing in the last hours of that Monday", {}, "2026-12-01T02:59:59Z", null],
    ["nothing on the day after a Monday that was missed", {}, "2026-12-01T10:00:00Z", null],
    ["nothing on the Monday after that", {}, "2026-12-07T10:00:00Z", null],
    ["nothing that is needed after a success", { status: "success" }, "2026-11-24T15:00:00Z", null],
    ["a week that is open", { week: weekOf({ email: { failed: 1 } }) }, "2026-11-24T15:00:00Z", null],
    ["a report that failed", { week: weekOf({ reports: { failed: 1 } }) }, "2026-11-24T15:00:00Z", null],
    ["a week that was not read", { week: null }, "2026-11-24T15:00:00Z", null],
    ["a heartbeat whose cause has to be mended", { heartbeat: "failed" }, "2026-11-23T15:00:00Z", null],
    ["a heartbeat that no one can write today", { heartbeat: "failed" }, "2026-11-24T15:00:00Z", "monday"],
    [
      "networks that were not read",
      { week: { ...weekOf(), social: { connected: 4, failed: 4, owners: 2 } } },
      "2026-11-24T15:00:00Z",
      null,
    ],
  ])("is for %s", (_what, changes, now, renewal) => {
    const { run } = lastRun({ ...FAILED, ...changes });
    expect(renewalOf(run, Temporal.Instant.from(now))).toBe(renewal);
  });
});
