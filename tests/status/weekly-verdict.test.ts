import { describe, expect, test } from "bun:test";
import type { LastRunReading } from "../../lib/last-run/read.ts";
import type { ReportWeek } from "../../lib/ledger/report-week.ts";
import type { WeekState } from "../../lib/ledger/week-state.ts";
import { ledgerWeekOf } from "../../lib/reports/ledger-week.ts";
import { judgeLedger, judgeWithoutLedger } from "../../lib/status/parts/weekly-verdict.ts";
import { weekOf } from "../weekly/announce/support.ts";
import { endedProcess, lastRun, reportWeek } from "./support/run.ts";

const BEFORE = "2026-11-23T11:14:00Z";
const DUE = "2026-11-23T11:15:00Z";
const EARLY = "2026-11-23T10:59:59Z";
const STARTED = "2026-11-23T11:00:00Z";
const NONE = { status: "none" } as const;
const EMPTY = weekOf({
  reports: { completed: 0, missing: 10 },
  whatsapp: { sent: 0 },
  email: { sent: 0 },
});
const NOBODY = { owners: 0, reports: { completed: 0 }, whatsapp: { sent: 0 }, email: { sent: 0 } };
const REFUSED = {
  ...{ status: "not_ready", error: { code: "CONFIG_INVALID" }, refusedAt: "2026-11-23T11:00:02Z" },
  ...{ window: null, week: null },
};
const BEFORE_LAST = lastRun({
  window: { start: "2026-11-09T03:00:00Z", end: "2026-11-16T03:00:00Z", week: "2026-11-09" },
});
const CLOSED = { retryableUntil: null };
const BY_HAND =
  "what a look-up does not find is decided by hand: opsctl deliveries list --state unknown, then reconcile each";
const DEADLINE = "2026-11-24 00:00:00 (São Paulo)";

describe("judgeLedger()", () => {
  const one = { email: { failed: 2, sent: 8 } };
  const waiting = {
    waitsFor: "database",
    code: "57P03",
    since: "2026-11-23T11:00:03Z",
    until: "2026-11-23T11:05:03Z",
  };
  test.each<
    [string, { week: ReportWeek; state: WeekState }, LastRunReading, { text: string; next?: string }]
  >([
    ["a clean week", { week: reportWeek(), state: weekOf() }, lastRun(), { text: "clean, 10 owners" }],
    [
      "a clean week of another host",
      { week: reportWeek(CLOSED), state: weekOf() },
      NONE,
      { text: "clean, 10 owners" },
    ],
    [
      "an open week, on its Monday",
      { week: reportWeek(), state: weekOf(one) },
      lastRun({ status: "failed" }),
      { text: `OPEN: 2 open; it can be repeated until ${DEADLINE}`, next: "reports status" },
    ],
    [
      "an open week, the day after",
      { week: reportWeek(CLOSED), state: weekOf(one) },
      NONE,
      {
        text: "OPEN: 2 open; nothing more is sent for it, and nothing is left to do",
        next: "reports status",
      },
    ],
    [
      "a week with doubts alone, on its Monday",
      { week: reportWeek(), state: weekOf({ whatsapp: { unknown: 2 } }) },
      lastRun({ status: "failed" }),
      {
        text: `OPEN: 2 open; what is in doubt is never sent again by itself; ${BY_HAND}`,
        next: "deliveries look-up --all",
      },
    ],
    [
      "a week with doubts alone, the day after",
      { week: reportWeek(CLOSED), state: weekOf({ whatsapp: { unknown: 2 } }) },
      NONE,
      { text: `OPEN: 2 open; nothing more is sent for it; ${BY_HAND}`, next: "deliveries look-up --all" },
    ],
    [
      "a week that lacks timeline entries alone",
      { week: reportWeek(), state: weekOf({ whatsapp: { partial: 1 } }) },
      lastRun({ status: "failed" }),
      { text: "OPEN: 1 open; what is sent lacks only its timeline entry", next: "deliveries repair" },
    ],
    [
      "a week on which a run of another host works",
      { week: reportWeek(), state: weekOf({ email: { running: 1 } }) },
      NONE,
      { text: "a run works on it" },
    ],
    [
      "a week with doubts and failures",
      { week: reportWeek(), state: weekOf({ whatsapp: { unknown: 1, failed: 1 } }) },
      lastRun({ status: "failed" }),
      { text: `OPEN: 2 open; it can be repeated until ${DEADLINE}`, next: "reports status" },
    ],
    [
      "a week with doubts and missing timeline entries",
      { week: reportWeek(), state: weekOf({ whatsapp: { unknown: 1, partial: 1 } }) },
      lastRun({ status: "failed" }),
      {
        text: `OPEN: 2 open; what is in doubt is never sent again by itself; ${BY_HAND}`,
        next: "reports status",
      },
    ],
    [
      "a week in which the networks failed",
      { week: reportWeek(), state: { ...weekOf(), social: { connected: 9, failed: 9, owners: 9 } } },
      lastRun({ status: "failed" }),
      { text: "OPEN: SOCIAL_ALL_CALLS_FAILED; no run reads these networks again", next: "reports status" },
    ],
    [
      "a closed week in which the networks failed",
      {
        week: reportWeek(CLOSED),
        state: { ...weekOf(), social: { connected: 9, failed: 9, owners: 9 } },
      },
      NONE,
      {
        text: "OPEN: SOCIAL_ALL_CALLS_FAILED; nothing more is sent for it, and nothing is left to do",
        next: "reports status",
      },
    ],
    [
      "a Monday before its run",
      { week: reportWeek({ now: BEFORE }), state: EMPTY },
      NONE,
      { text: "the run is due at 08:00 (São Paulo)" },
    ],
    [
      "a Monday on which no run has begun",
      { week: reportWeek({ now: DUE }), state: EMPTY },
      NONE,
      { text: `no run has begun; it can be made until ${DEADLINE}`, next: "doctor weekly" },
    ],
    [
      "the last minute of a Monday on which no run has begun",
      { week: reportWeek({ now: "2026-11-24T02:59:00Z" }), state: EMPTY },
      NONE,
      { text: `no run has begun; it can be made until ${DEADLINE}`, next: "doctor weekly" },
    ],
    [
      "a new host in the middle of the week",
      { week: reportWeek(CLOSED), state: EMPTY },
      NONE,
      { text: "no run yet; the first is on Monday at 08:00 (São Paulo)" },
    ],
    [
      "a new host without owners, on a Monday",
      { week: reportWeek({ now: DUE }), state: weekOf(NOBODY) },
      NONE,
      { text: `no run has begun; it can be made until ${DEADLINE}`, next: "doctor weekly" },
    ],
    [
      "a Monday that was missed",
      { week: reportWeek(CLOSED), state: EMPTY },
      lastRun({ window: { start: "2026-11-09T03:00:00Z", end: "2026-11-16T03:00:00Z", week: "2026-11-09" } }),
      { text: "no run has begun; nothing more is sent for it", next: "doctor weekly" },
    ],
    [
      "a run that goes on",
      { week: reportWeek(), state: EMPTY },
      lastRun({ status: "running" }),
      { text: "the run goes on since 2026-11-23 08:00:00 (São Paulo)" },
    ],
    [
      "a run that was killed",
      { week: reportWeek(), state: weekOf(one) },
      lastRun({ status: "running", process: endedProcess() }),
      {
        text: `OPEN: the run was killed; 2 open; it can be repeated until ${DEADLINE}`,
        next: "reports status",
      },
    ],
    [
      "a run that waits for the database",
      { week: reportWeek(), state: EMPTY },
      lastRun({ status: "running", waiting }),
      {
        text: "a run waits for the database (57P03), until 2026-11-23 08:05:03 (São Paulo)",
        next: "doctor weekly",
      },
    ],
    [
      "a week that was mended by hand",
      { week: reportWeek(), state: weekOf() },
      lastRun({ status: "failed" }),
      { text: "clean, 10 owners; the last run failed", next: "weekly" },
    ],
    [
      "a week that was mended by hand and is closed",
      { week: reportWeek(CLOSED), state: weekOf() },
      lastRun({ status: "failed" }),
      { text: "clean, 10 owners; the next run on a Monday renews the last success" },
    ],
    [
      "a run that was killed when nothing was open",
      { week: reportWeek(), state: weekOf() },
      lastRun({ status: "running", process: endedProcess() }),
      { text: "clean, 10 owners; the last run was killed", next: "weekly" },
    ],
    [
      "a run that was not ready",
      { week: reportWeek({ now: BEFORE }), state: EMPTY },
      lastRun({
        ...{ status: "not_ready", error: { code: "CONFIG_INVALID" }, refusedAt: "2026-11-23T11:00:02Z" },
        ...{ window: null, week: null },
      }),
      {
        text: `the run was not ready (CONFIG_INVALID); it can be made until ${DEADLINE}`,
        next: "doctor weekly",
      },
    ],
    [
      "a run that was interrupted while it waited",
      { week: reportWeek(), state: EMPTY },
      lastRun({
        ...{ status: "failed", error: { code: "RUN_INTERRUPTED" }, refusedAt: "2026-11-23T11:00:02Z" },
        ...{ window: null, week: null },
      }),
      {
        text: `the run failed (RUN_INTERRUPTED); it can be made until ${DEADLINE}`,
        next: "doctor weekly",
      },
    ],
    [
      "a run that was killed while it waited, while another host's works",
      { week: reportWeek(), state: weekOf({ reports: { completed: 0, running: 1, missing: 9 } }) },
      lastRun({ status: "running", process: endedProcess(), waiting }),
      { text: "a run works on it" },
    ],
    [
      "a week whose editorials failed",
      { week: reportWeek(), state: weekOf() },
      lastRun({ status: "failed", editorials: { status: "failed", code: "WORKER_HTTP_401" } }),
      { text: "clean, 10 owners; the last run failed (WORKER_HTTP_401)", next: "reports status" },
    ],
    [
      "a week without networks",
      { week: reportWeek(), state: weekOf() },
      lastRun({ heartbeat: "kept" }),
      { text: "clean, 10 owners; the last run left the networks out", next: "weekly" },
    ],
    [
      "a Monday on which the application gives nobody a report",
      {
        week: reportWeek(),
        state: weekOf({ ...NOBODY, before: { week: "2026-11-09", owners: 412 } }),
      },
      lastRun(),
      { text: "clean, 0 owners; 412 in the week of 2026-11-09", next: "explain OWNERS_DROPPED" },
    ],
    [
      "a Monday without owners whose run has not begun, on a host that works",
      { week: reportWeek({ now: DUE }), state: weekOf(NOBODY) },
      BEFORE_LAST,
      { text: `no run has begun; it can be made until ${DEADLINE}`, next: "doctor weekly" },
    ],
    [
      "the same before it is due",
      { week: reportWeek({ now: BEFORE }), state: weekOf(NOBODY) },
      BEFORE_LAST,
      { text: "clean, 0 owners" },
    ],
    [
      "the same on a host that only looks",
      { week: reportWeek({ now: DUE }), state: weekOf(NOBODY) },
      NONE,
      { text: "clean, 0 owners" },
    ],
    [
      "a tenant reported by hand before the run",
      { week: reportWeek({ now: EARLY }), state: weekOf({ reports: { completed: 1, missing: 9 } }) },
      NONE,
      { text: "the run is due at 08:00 (São Paulo)" },
    ],
    [
      "the same when cron has started the run",
      { week: reportWeek({ now: STARTED }), state: weekOf({ reports: { completed: 1, missing: 9 } }) },
      NONE,
      { text: `OPEN: 9 open; it can be repeated until ${DEADLINE}`, next: "reports status" },
    ],
    [
      "all owners reported by hand before the run",
      { week: reportWeek({ now: EARLY }), state: weekOf() },
      NONE,
      { text: "clean, 10 owners" },
    ],
    [
      "a whole run before the usual time that failed",
      { week: reportWeek({ now: EARLY }), state: weekOf(one) },
      lastRun({ status: "failed" }),
      { text: `OPEN: 2 open; it can be repeated until ${DEADLINE}`, next: "reports status" },
    ],
    [
      "a clean week of another host where cron found no settings",
      { week: reportWeek(), state: weekOf() },
      lastRun({ ...REFUSED, begunAt: null }),
      { text: "clean, 10 owners" },
    ],
    [
      "the same on a host that has worked",
      { week: reportWeek(), state: weekOf() },
      lastRun(REFUSED),
      { text: "clean, 10 owners; the last run was not ready", next: "weekly" },
    ],
    [
      "an open week whose next run was refused",
      { week: reportWeek(), state: weekOf(one) },
      lastRun(REFUSED),
      {
        text: `OPEN: the run was not ready (CONFIG_INVALID); 2 open; it can be repeated until ${DEADLINE}`,
        next: "reports status",
      },
    ],
    [
      "a ledger that went back",
      { week: reportWeek(), state: weekOf({ reports: { missing: 2 } }) },
      lastRun({ ...REFUSED, error: { code: "LEDGER_WENT_BACK" } }),
      {
        text: `OPEN: the run was not ready (LEDGER_WENT_BACK); 2 open; it can be repeated until ${DEADLINE}`,
        next: "explain LEDGER_WENT_BACK",
      },
    ],
    [
      "one that went back to before the week",
      { week: reportWeek(), state: EMPTY },
      lastRun({ ...REFUSED, error: { code: "LEDGER_WENT_BACK" } }),
      {
        text: `the run was not ready (LEDGER_WENT_BACK); it can be made until ${DEADLINE}`,
        next: "explain LEDGER_WENT_BACK",
      },
    ],
    [
      "one that went back in a week that is closed",
      { week: reportWeek(CLOSED), state: EMPTY },
      lastRun({ ...REFUSED, error: { code: "LEDGER_WENT_BACK" } }),
      {
        text: "the run was not ready (LEDGER_WENT_BACK); nothing more is sent for it",
        next: "doctor weekly",
      },
    ],
    [
      "a week whose heartbeat is gone",
      { week: reportWeek(), state: weekOf() },
      lastRun({ heartbeat: "written" }),
      { text: "clean, 10 owners; the heartbeat of the last run is gone", next: "weekly" },
    ],
    [
      "a closed week whose heartbeat is gone",
      { week: reportWeek(CLOSED), state: weekOf() },
      lastRun({ heartbeat: "written" }),
      { text: "clean, 10 owners; the next run on a Monday renews the last success" },
    ],
    [
      "a host without owners",
      { week: reportWeek(), state: { ...EMPTY, owners: 0, reports: weekOf().reports } },
      NONE,
      { text: "clean, 0 owners" },
    ],
  ])("says of %s what it is", (what, { week, state }, run, expected) => {
    const { text, next } = expected;
    const report = judgeLedger(ledgerWeekOf(week, state, !what.startsWith("a new host")), run, {
      isHeartbeatGone: what.includes("heartbeat is gone"),
    });
    expect(report.lines).toEqual([`week of 2026-11-16: ${text}`]);
    expect(report.next).toBe(
      next === undefined ? null : next.startsWith("explain") ? `opsctl ${next}` : `sudo opsctl ${next}`,
    );
    expect(report.status).toBe(next === undefined ? "ok" : "attention");
  });

  test("says that what the last run left cannot be read", () => {
    const report = judgeLedger(
      ledgerWeekOf(reportWeek(), weekOf(), true),
      { status: "unreadable", code: "EIO" },
      { isHeartbeatGone: false },
    );
    expect(report.lines).toEqual([
      "week of 2026-11-16: clean, 10 owners",
      "what the last run left cannot be read (EIO)",
    ]);
  });
});

describe("judgeWithoutLedger()", () => {
  test("shows what the last run left, and never calls a week clean", () => {
    const report = judgeWithoutLedger("the database did not answer in time", lastRun());
    expect(report).toMatchObject({
      status: "attention",
      lines: [
        "the database did not answer in time",
        "the last run of this host, week of 2026-11-16: succeeded",
      ],
      next: "sudo opsctl doctor weekly",
      facts: { week: "2026-11-16", clean: null, open: 0, owners: null },
    });
  });

  test("counts what that run left open", () => {
    const failed = {
      status: "failed",
      error: { code: "APP_HTTP_401" },
      week: weekOf({ whatsapp: { unknown: 3 } }),
    };
    expect(judgeWithoutLedger("x", lastRun(failed)).lines).toEqual([
      "x",
      "the last run of this host, week of 2026-11-16: failed (APP_HTTP_401), 3 deliveries open",
    ]);
  });

  test("says no more than the problem where no run left anything", () => {
    expect(judgeWithoutLedger("x", { status: "none" })).toMatchObject({ status: "attention", lines: ["x"] });
  });
});
