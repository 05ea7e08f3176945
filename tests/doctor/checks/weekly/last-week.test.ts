/** What doctor says of the last run and of the last closed week, and whether a failure could be announced. */
import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { isKnownAdvice } from "../../../../lib/doctor/advice/known-advice.ts";
import {
  type LastWeekFacts,
  lastRunVerdict,
  lastWeekVerdict,
} from "../../../../lib/doctor/checks/weekly/last-week.ts";
import { NEXT_MONDAY } from "../../../../lib/doctor/finding.ts";
import { LAST_RUN_FILE } from "../../../../lib/last-run/file-name.ts";
import { parseLastRun } from "../../../../lib/last-run/last-run.ts";
import { ownProcessMark } from "../../../../lib/last-run/process-mark.ts";
import { factsOf } from "../../../../lib/reports/last-run.ts";
import { startSilentPeer } from "../../../standins/raw-peer.ts";
import { startStandIn } from "../../../standins/standin.ts";
import { freePort } from "../../../support/free-port.ts";
import { MONDAY, seedOwner, setClock } from "../../../support/seed.ts";
import { UNTIL, WINDOW, weekOf } from "../../../weekly/announce/support.ts";
import { weeklyFixture } from "../../../weekly/support/weekly-fixture.ts";
import { CANARIES, type Host, openHost } from "../../support/host.ts";

const DURING = Date.parse("2026-11-23T15:00:00Z");
const AFTER = Date.parse("2026-11-25T15:00:00Z");
const NEXT_WEEK = Date.parse("2026-11-30T15:00:00Z");

const RUN = {
  status: "failed",
  runId: "r",
  begunAt: MONDAY,
  window: WINDOW,
  retryableUntil: UNTIL,
  error: { code: "APP_HTTP_401" },
  week: weekOf({ email: { failed: 1 } }),
  process: ownProcessMark(),
  announcement: null,
};
const WAITING = {
  status: "running",
  waiting: {
    waitsFor: "database",
    code: "57P03",
    since: "2026-11-23T11:00:03Z",
    until: "2026-11-23T11:05:03Z",
  },
};
const WENT_BACK = { status: "not_ready", error: { code: "LEDGER_WENT_BACK" } };
const EXPLAIN = "opsctl explain LEDGER_WENT_BACK";
const found = (changes: object) => ({
  status: "found" as const,
  run: parseLastRun(JSON.stringify({ ...RUN, ...changes }))!,
});

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

describe("lastWeekVerdict()", () => {
  const factsAt = (ms: number, changes: Partial<LastWeekFacts> = {}): LastWeekFacts => {
    const week = { week: "2026-11-16", now: new Date(ms).toISOString() };
    const retryableUntil = ms < Date.parse(UNTIL) ? UNTIL : null;
    return {
      week: { ...week, retryableUntil },
      lastRun: null,
      hasRun: true,
      hasHostWorked: true,
      ...changes,
    };
  };
  const succeeded = { lastRun: factsOf(found({ status: "success" }).run) };
  const wentBack = {
    lastRun: factsOf(found(WENT_BACK).run),
  };
  const runs = { lastRun: factsOf(found({ status: "running" }).run) };
  test.each<[string, Parameters<typeof weekOf>[0], "pass" | "fail"]>([
    ["all is sent", {}, "pass"],
    ["a report failed", { reports: { failed: 1 } }, "fail"],
    ["a delivery is running", { email: { running: 1 } }, "pass"],
    ...(["failed", "unknown", "partial", "missing"] as const).map(
      (state): [string, Parameters<typeof weekOf>[0], "fail"] => [
        `a delivery is ${state}`,
        { email: { [state]: 1 } },
        "fail",
      ],
    ),
  ])("%s", (_name, changes, status) => {
    expect(lastWeekVerdict(weekOf(changes), factsAt(DURING)).status).toBe(status);
  });

  const DUE = Date.parse("2026-11-23T11:15:00Z");
  const LAST_MINUTE = Date.parse("2026-11-24T02:59:00Z");
  const none = { reports: { completed: 0, missing: 10 }, whatsapp: { sent: 0 }, email: { sent: 0 } };
  const some = { reports: { completed: 7, missing: 3 } };
  const works = { reports: { completed: 7, running: 1, missing: 2 } };
  const NO_RUN = "no run has begun with the week of 2026-11-16";
  const MIDNIGHT = "2026-11-24 00:00:00 (São Paulo)";
  const UNTIL_MIDNIGHT = `it can be repeated until ${MIDNIGHT}`;
  const MADE_UNTIL = `it can be made until ${MIDNIGHT}`;
  const WORKS = "pass a run works on the week of 2026-11-16 -> null";
  test.each<[string, Parameters<typeof weekOf>[0], number, object, string]>([
    [
      "a Monday before its run is due",
      none,
      DUE - 1,
      {},
      "pass the run for the week of 2026-11-16 is due at 08:00 (São Paulo) -> null",
    ],
    ["a Monday whose run is late", none, DUE, {}, `fail ${NO_RUN}; ${MADE_UNTIL} -> opsctl weekly`],
    ["the end of that Monday", none, LAST_MINUTE, {}, `fail ${NO_RUN}; ${MADE_UNTIL} -> opsctl weekly`],
    ["a run that has only begun", none, DUE, runs, WORKS],
    [
      "a Monday that was missed",
      none,
      AFTER,
      {},
      `fail ${NO_RUN}; that week is closed: nothing more is sent for it -> ` +
        "See the end of /var/log/opsctl/weekly.log for what failed",
    ],
    [
      "a host on which no run has been",
      none,
      DURING,
      { hasRun: false },
      `warn ${NO_RUN}; ${MADE_UNTIL} -> opsctl weekly`,
    ],
    [
      "the same in the middle of a week",
      none,
      AFTER,
      { hasRun: false },
      "pass no run yet; the first is on Monday at 08:00 (São Paulo) -> null",
    ],
    [
      "owners whom the run did not reach",
      some,
      DURING,
      {},
      `fail open in the week of 2026-11-16: reports: 3 missing; ${UNTIL_MIDNIGHT} -> ` +
        "opsctl reports status; mend what it names, then opsctl weekly",
    ],
    ["those whom it comes to yet", some, DURING, runs, WORKS],
    ["those of a run of another host", works, DURING, {}, WORKS],
    [
      "owners whom no run reaches any more",
      some,
      AFTER,
      {},
      "warn open in the week of 2026-11-16: reports: 3 missing; that week is closed: " +
        "nothing more is sent for it, and nothing is left to do -> opsctl reports status",
    ],
    [
      "those beside a delivery that failed",
      { ...some, email: { failed: 1 } },
      AFTER,
      {},
      "fail open in the week of 2026-11-16: reports: 3 missing; e-mail: 1 failed; that week is closed: " +
        "nothing more is sent for it, and nothing is left to do -> opsctl reports status",
    ],
    ["a ledger that went back", none, DURING, wentBack, `fail ${NO_RUN}; ${MADE_UNTIL} -> ${EXPLAIN}`],
    ["the same while another host works", works, DURING, wentBack, WORKS],
    [
      "a ledger that went back a little",
      { email: { failed: 1 } },
      DURING,
      wentBack,
      `fail open in the week of 2026-11-16: e-mail: 1 failed; ${UNTIL_MIDNIGHT} -> ${EXPLAIN}`,
    ],
    [
      "a Monday on which the application gives nobody a report",
      { owners: 0, reports: { completed: 0 }, before: { week: "2026-11-09", owners: 412 } },
      DURING,
      succeeded,
      "warn nothing is open in the week of 2026-11-16; owners: 0; 412 in the week of 2026-11-09 -> " +
        "opsctl explain OWNERS_DROPPED",
    ],
  ])("says of %s what it is", (_name, changes, ms, facts, expected) => {
    const { status, reason, mend } = lastWeekVerdict(weekOf(changes), factsAt(ms, facts));
    expect(`${status} ${reason} -> ${mend}`).toBe(expected);
    if (mend !== null) expect(isKnownAdvice(mend, () => false)).toBe(true);
  });

  test("says until when it can be sent, and afterwards what is left to do", () => {
    const week = weekOf({ whatsapp: { failed: 2, unknown: 1 } });
    expect(lastWeekVerdict(week, factsAt(DURING)).reason).toBe(
      "open in the week of 2026-11-16: WhatsApp: 2 failed, 1 unknown; " +
        "it can be repeated until 2026-11-24 00:00:00 (São Paulo)",
    );
    const late = lastWeekVerdict(week, factsAt(AFTER));
    expect(late.reason).toContain("that week is closed");
    expect(late.mend).toContain("deliveries look-up");
  });

  test.each<[Parameters<typeof weekOf>[0], number, RegExp, string]>([
    [
      { whatsapp: { unknown: 1 } },
      DURING,
      /; what is in doubt is never sent again by itself; what a look-up does not find is decided by hand/,
      "opsctl deliveries look-up --all",
    ],
    [
      { whatsapp: { partial: 1 } },
      DURING,
      /; what is sent lacks only its timeline entry$/,
      "opsctl deliveries repair",
    ],
    [{ email: { partial: 1 } }, AFTER, /that week is closed/, "opsctl deliveries repair"],
    [{ email: { unknown: 1, partial: 1 } }, DURING, /never sent again by itself; /, "opsctl reports status"],
    [{ email: { failed: 1 } }, AFTER, /that week is closed/, "opsctl reports status"],
    [
      { email: { failed: 1, unknown: 1 } },
      DURING,
      /it can be repeated until/,
      "opsctl reports status; mend what it names, then opsctl weekly",
    ],
  ])("of %j names what helps", (changes, ms, reason, mend) => {
    const verdict = lastWeekVerdict(weekOf(changes), factsAt(ms));
    expect(verdict.reason).toMatch(reason);
    expect(verdict.mend).toBe(mend);
    expect(isKnownAdvice(mend, () => false)).toBe(true);
  });
});

const findingsOf = async (host: Host, check: string) =>
  (await host.examine("weekly"))
    .filter((one) => one.check === check)
    .map(({ status, reason }) => `${status} ${reason}`);

describe("opsctl doctor weekly", () => {
  test("fails on a delivery that a run left open, by the database's clock", async () => {
    await using weekly = await weeklyFixture();
    await using host = await openHost();
    await seedOwner(weekly.db.sql, { phone: null });
    await weekly.run();
    host.put("secrets/DATABASE_URL", weekly.db.url);
    expect(await findingsOf(host, "last week")).toEqual([
      "fail open in the week of 2026-11-16: WhatsApp: 1 failed; " +
        "it can be repeated until 2026-11-24 00:00:00 (São Paulo)",
    ]);
    await setClock(weekly.db.sql, "2026-11-24T12:00:00Z");
    expect((await findingsOf(host, "last week"))[0]).toContain("that week is closed");
    await setClock(weekly.db.sql, "2026-11-30T12:00:00Z");
    expect(await findingsOf(host, "last week")).toEqual([
      "fail no run has begun with the week of 2026-11-23; " +
        "it can be made until 2026-12-01 00:00:00 (São Paulo)",
    ]);
    const window = { start: "2026-11-23T03:00:00Z", end: "2026-11-30T03:00:00Z", week: "2026-11-23" };
    const begun = { status: "running", window, retryableUntil: null, week: null, error: null };
    host.put(`log/${LAST_RUN_FILE}`, JSON.stringify({ ...RUN, ...begun }), 0o644);
    expect(await findingsOf(host, "last week")).toEqual(["pass a run works on the week of 2026-11-23"]);
    await setClock(weekly.db.sql, "2026-11-30T11:14:00Z");
    host.put(`log/${LAST_RUN_FILE}`, JSON.stringify(RUN), 0o644);
    expect(await findingsOf(host, "last week")).toEqual([
      "pass the run for the week of 2026-11-23 is due at 08:00 (São Paulo)",
    ]);
  });

  test("misses a run on a database that has had none on a Monday alone", async () => {
    await using weekly = await weeklyFixture();
    await using host = await openHost();
    await seedOwner(weekly.db.sql);
    host.put("secrets/DATABASE_URL", weekly.db.url);
    await setClock(weekly.db.sql, "2026-11-23T15:00:00Z");
    expect(await findingsOf(host, "last week")).toEqual([
      "warn no run has begun with the week of 2026-11-16; it can be made until 2026-11-24 00:00:00 (São Paulo)",
    ]);
    await setClock(weekly.db.sql, "2026-11-25T15:00:00Z");
    expect(await findingsOf(host, "last week")).toEqual([
      "pass no run yet; the first is on Monday at 08:00 (São Paulo)",
    ]);
  });

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

  test("tries the alert webhook without telling it anything", async () => {
    await using host = await openHost();
    const answers = { status: 204 };
    const webhook = await startStandIn(
      {
        alerts: {
          method: "POST",
          pattern: /^\/webhook$/,
          handle: async ({ headers }) => ({
            status: headers["x-webhook-secret"] === CANARIES.WEBHOOK_SECRET ? answers.status : 401,
            json: {},
          }),
        },
      },
      { notFound: () => ({ status: 404, json: {} }) },
    );
    host.peers.push(webhook);
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", `${webhook.url}/webhook`);
    expect(await findingsOf(host, "alert webhook")).toEqual([
      "pass the webhook answers and takes the secret",
    ]);
    expect(webhook.ledger.map(({ rawBody }) => rawBody)).toEqual([""]);
    expect(webhook.ledger[0]!.headers["content-type"]).toBe("application/vnd.opsctl.question");

    answers.status = 200;
    expect((await findingsOf(host, "alert webhook"))[0]).toContain("fail ANNOUNCE_FAILED");
    host.put("secrets/WEBHOOK_SECRET", "another");
    expect((await findingsOf(host, "alert webhook"))[0]).toContain("http_401");
    host.put("secrets/WEBHOOK_SECRET", "");
    host.put("etc/webhook.env", `WEBHOOK_SECRET='${CANARIES.WEBHOOK_SECRET}'\n`);
    // A webhook of an older version.
    answers.status = 415;
    expect(await findingsOf(host, "alert webhook")).toEqual([
      "pass the webhook answers and takes the secret",
    ]);
    host.put("etc/webhook.env", "MESSAGING_PHONE=\n");
    expect((await findingsOf(host, "alert webhook"))[0]).toStartWith("fail WEBHOOK_SECRET is missing");
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", `http://127.0.0.1:${await freePort()}/webhook`);
    host.put("secrets/WEBHOOK_SECRET", CANARIES.WEBHOOK_SECRET);
    expect((await findingsOf(host, "alert webhook"))[0]).toContain("unreachable");
    host.setting("weekly", "OPSCTL_ALERT_WEBHOOK", "http://alerts.example.com/webhook");
    expect((await findingsOf(host, "alert webhook"))[0]).toStartWith(
      "fail OPSCTL_ALERT_WEBHOOK would send a secret",
    );
  });
});
