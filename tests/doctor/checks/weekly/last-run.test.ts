/** What doctor says of the last run of this host. */
import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { isKnownAdvice } from "../../../../lib/doctor/advice/known-advice.ts";
import { lastRunVerdict } from "../../../../lib/doctor/checks/weekly/last-run.ts";
import { NEXT_MONDAY } from "../../../../lib/doctor/finding.ts";
import { LAST_RUN_FILE } from "../../../../lib/last-run/file-name.ts";
import { startSilentPeer } from "../../../standins/raw-peer.ts";
import { setClock } from "../../../support/seed.ts";
import { weekOf } from "../../../weekly/announce/support.ts";
import { openHost } from "../../support/host.ts";
import { AFTER, DURING, EXPLAIN, findingsOf, found, RUN, WENT_BACK } from "./support.ts";

const NEXT_WEEK = Date.parse("2026-11-30T15:00:00Z");
const WAITING = {
  status: "running",
  waiting: {
    waitsFor: "database",
    code: "57P03",
    since: "2026-11-23T11:00:03Z",
    until: "2026-11-23T11:05:03Z",
  },
};

describe("lastRunVerdict()", () => {
  test.each<[string, object, number, string, RegExp]>([
    ["a success", { status: "success", error: null }, DURING, "pass", /succeeded, week of 2026-11-16$/],
    [
      "a failure, on its Monday",
      {},
      DURING,
      "fail",
      /APP_HTTP_401; it can be repeated until 2026-11-24 00:00:00 \(São Paulo\)/,
    ],
    ["a failure, the day after", {}, AFTER, "fail", /that week is closed/],
    ["a failure of an older week", {}, NEXT_WEEK, "warn", /another week has closed since then/],
    [
      "a failure that was settled by hand",
      { week: weekOf() },
      AFTER,
      "warn",
      /nothing of that week is open any more/,
    ],
    [
      "a failure that was settled by hand, on its Monday",
      { week: weekOf() },
      DURING,
      "warn",
      /nothing of that week is open any more; another run today renews the last success$/,
    ],
    [
      "a heartbeat that could not be written, the day after",
      { error: null, week: weekOf(), heartbeat: "failed" },
      AFTER,
      "warn",
      /nothing of that week is open any more; the next run on a Monday renews the last success$/,
    ],
    [
      "a closed week that lacks a timeline entry",
      { week: weekOf({ email: { partial: 1 } }) },
      AFTER,
      "fail",
      /; that week is closed: nothing more is sent for it$/,
    ],
    [
      "a closed week in doubt",
      { week: weekOf({ email: { unknown: 1 } }) },
      AFTER,
      "fail",
      /; that week is closed: nothing more is sent for it$/,
    ],
    [
      "a closed week with what failed",
      { week: weekOf({ email: { failed: 1 } }) },
      AFTER,
      "fail",
      /is closed: nothing more is sent for it, and nothing is left to do$/,
    ],
    [
      "a closed week of which nothing is known",
      { week: null },
      AFTER,
      "fail",
      /is closed: nothing more is sent for it$/,
    ],
    [
      "a failure of the editorials alone",
      { error: null, week: weekOf(), editorials: { status: "failed", code: "WORKER_HTTP_401" } },
      DURING,
      "fail",
      /it can be repeated until/,
    ],
    [
      "a heartbeat that could not be written",
      { error: null, week: weekOf(), heartbeat: "failed" },
      DURING,
      "fail",
      /it can be repeated until/,
    ],
    [
      "networks that could not be read",
      { error: null, week: { ...weekOf(), social: { connected: 4, failed: 4, owners: 2 } } },
      DURING,
      "fail",
      /; no run reads these networks again$/,
    ],
    [
      "a report that another process holds",
      { error: null, week: weekOf({ reports: { running: 1 } }) },
      DURING,
      "warn",
      /; a run works on it$/,
    ],
    [
      "a run that was killed while it waited, while another host's works on the week",
      { ...WAITING, process: { ...RUN.process, startTicks: 1 }, week: weekOf({ reports: { running: 1 } }) },
      DURING,
      "warn",
      /; a run works on it$/,
    ],
    [
      "a run that was not ready, while another host's works on the week",
      { status: "not_ready", week: weekOf({ reports: { running: 1 } }) },
      DURING,
      "warn",
      /; a run works on it$/,
    ],
    [
      "a run that was not ready",
      { status: "not_ready", window: null, retryableUntil: null, week: null },
      AFTER,
      "fail",
      /on a Monday only/,
    ],
    ["a run that goes on", { status: "running", error: null, week: null }, DURING, "pass", /goes on$/],
    [
      "a run that was killed",
      { status: "running", error: null, week: null, process: { ...RUN.process, startTicks: 1 } },
      DURING,
      "fail",
      /was killed; it can be repeated until/,
    ],
    [
      "a run that waits before it begins",
      WAITING,
      DURING,
      "warn",
      /^a run waits for the database \(57P03\) since 2026-11-23 08:00:03, until 2026-11-23 08:05:03 at most/,
    ],
    [
      "a run that was killed while it waited",
      { ...WAITING, process: { ...RUN.process, startTicks: 1 } },
      DURING,
      "fail",
      /^a run was killed while it waited for the database \(57P03\) since 2026-11-23 08:00:03/,
    ],
    [
      "a run of another host's process",
      {
        status: "running",
        error: null,
        week: null,
        process: { ...RUN.process, host: "other", startTicks: 1 },
      },
      DURING,
      "pass",
      /goes on$/,
    ],
  ])("%s", (_name, changes, nowMs, status, reason) => {
    const verdict = lastRunVerdict(found(changes), nowMs);
    expect(verdict.status).toBe(status as never);
    expect(verdict.reason).toMatch(reason);
  });

  const doubt = { week: weekOf({ whatsapp: { unknown: 1 } }) };
  const failed = { week: weekOf({ whatsapp: { failed: 1 } }) };
  const LOOK_UP = "opsctl deliveries look-up --all";
  const STATUS = "opsctl reports status";
  const FIRST = `${STATUS}; mend what it names, then opsctl weekly`;
  test.each<[string, object, number, string | null]>([
    ["nothing, on its Monday", { week: weekOf() }, DURING, "opsctl weekly"],
    ["nothing, the day after", { week: weekOf() }, AFTER, NEXT_MONDAY],
    ["a doubt alone", doubt, DURING, LOOK_UP],
    ["a doubt alone, the day after", doubt, AFTER, LOOK_UP],
    ["a doubt of an older week", doubt, NEXT_WEEK, LOOK_UP],
    ["a doubt, and editorials that failed", { ...doubt, editorials: { status: "failed" } }, DURING, FIRST],
    ["a timeline entry", { week: weekOf({ whatsapp: { partial: 1 } }) }, DURING, "opsctl deliveries repair"],
    [
      "a doubt and a timeline entry",
      { week: weekOf({ whatsapp: { partial: 1, unknown: 1 } }) },
      AFTER,
      STATUS,
    ],
    ["what failed", failed, DURING, FIRST],
    ["what failed, the day after", failed, AFTER, STATUS],
    ["what failed in an older week, which nothing mends", failed, NEXT_WEEK, null],
    ["a run of an older week that broke down", { week: null }, NEXT_WEEK, `${STATUS}; ${LOOK_UP}`],
    ["a run that broke down", { week: null }, DURING, FIRST],
    ["a run that was not ready", { status: "not_ready", week: null }, DURING, "opsctl weekly"],
    [
      "a run that was not ready, while another host's works on the week",
      { status: "not_ready", week: weekOf({ reports: { running: 1 } }) },
      DURING,
      null,
    ],
    ["a run whose ledger went back", { ...WENT_BACK, week: null }, DURING, EXPLAIN],
    ["one whose ledger went back, with nothing open", { ...WENT_BACK, week: weekOf() }, DURING, EXPLAIN],
    ["one whose ledger went back, the day after", { ...WENT_BACK, week: null }, AFTER, STATUS],
    ["a killed run", { status: "running", process: { ...RUN.process, startTicks: 1 } }, DURING, FIRST],
    [
      "a killed run, the day after",
      { status: "running", process: { ...RUN.process, startTicks: 1 } },
      AFTER,
      STATUS,
    ],
  ])("names what helps against %s", (_name, changes, nowMs, mend) => {
    const verdict = lastRunVerdict(found(changes), nowMs);
    expect(verdict.mend).toBe(mend);
    if (mend !== null) expect(isKnownAdvice(mend, () => false)).toBe(true);
  });

  test("no record is no fault; one that cannot be read is", () => {
    expect(lastRunVerdict({ status: "none" }, DURING).status).toBe("pass");
    expect(lastRunVerdict({ status: "unreadable", code: "ELOOP" }, DURING)).toMatchObject({ status: "fail" });
  });
});

describe("opsctl doctor weekly", () => {
  test("tells of the last run what it left while the database is silent", async () => {
    await using host = await openHost();
    const database = await startSilentPeer();
    host.put("secrets/DATABASE_URL", `postgres://u:p@127.0.0.1:${database.port}/app`);
    host.put(`log/${LAST_RUN_FILE}`, JSON.stringify(RUN), 0o644);
    host.dependencies.callLimitMs = 50;
    expect((await findingsOf(host, "last run"))[0]).toStartWith(
      "fail the last run failed, week of 2026-11-16, APP_HTTP_401; ",
    );
    await database.stop();
  });

  test("fails on a last run that failed, and on what it cannot read", async () => {
    await using host = await openHost();
    await setClock(host.db.sql, "2026-11-23T12:00:00Z");
    host.put(`log/${LAST_RUN_FILE}`, JSON.stringify(RUN), 0o644);
    expect(await findingsOf(host, "last run")).toEqual([
      "fail the last run failed, week of 2026-11-16, APP_HTTP_401; " +
        "it can be repeated until 2026-11-24 00:00:00 (São Paulo)",
    ]);
    host.setting("weekly", "OPSCTL_LOG_DIR", host.path("other-log"));
    mkdirSync(host.path("other-log", LAST_RUN_FILE), { recursive: true });
    expect(await findingsOf(host, "last run")).toEqual([
      "fail the record of the last run cannot be read: ENOTFILE",
    ]);
  });
});
