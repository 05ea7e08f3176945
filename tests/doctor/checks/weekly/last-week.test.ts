/** What doctor says of the last closed week. */
import { describe, expect, test } from "bun:test";
import { isKnownAdvice } from "../../../../lib/doctor/advice/known-advice.ts";
import { lastWeekVerdict } from "../../../../lib/doctor/checks/weekly/last-week.ts";
import { LAST_RUN_FILE } from "../../../../lib/last-run/file-name.ts";
import { factsOf, type LastRunFinding } from "../../../../lib/reports/last-run.ts";
import { ledgerWeekOf } from "../../../../lib/reports/ledger-week.ts";
import { reportWeek } from "../../../status/support/run.ts";
import { seedOwner, setClock } from "../../../support/seed.ts";
import { UNTIL, weekOf } from "../../../weekly/announce/support.ts";
import { weeklyFixture } from "../../../weekly/support/weekly-fixture.ts";
import { openHost } from "../../support/host.ts";
import { AFTER, DURING, EXPLAIN, findingsOf, found, RUN, WENT_BACK } from "./support.ts";

describe("lastWeekVerdict()", () => {
  const worked: LastRunFinding = { status: "none", hasHostWorked: true };
  const runOf = (changes: object): LastRunFinding => ({ status: "found", run: factsOf(found(changes).run) });
  const succeeded = runOf({ status: "success" });
  const wentBack = runOf(WENT_BACK);
  const runs = runOf({ status: "running" });
  /** The verdict at this time over a week with these counts; null where no run has been yet. */
  const verdictAt = (
    ms: number,
    changes: Parameters<typeof weekOf>[0],
    lastRun: LastRunFinding | null = worked,
  ) => {
    const retryableUntil = ms < Date.parse(UNTIL) ? UNTIL : null;
    const week = reportWeek({ now: new Date(ms).toISOString(), retryableUntil });
    return lastWeekVerdict(ledgerWeekOf(week, weekOf(changes), lastRun !== null), lastRun ?? worked);
  };
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
    expect(verdictAt(DURING, changes).status).toBe(status);
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
  test.each<[string, Parameters<typeof weekOf>[0], number, LastRunFinding | null, string]>([
    [
      "a Monday before its run is due",
      none,
      DUE - 1,
      worked,
      "pass the run for the week of 2026-11-16 is due at 08:00 (São Paulo) -> null",
    ],
    ["a Monday whose run is late", none, DUE, worked, `fail ${NO_RUN}; ${MADE_UNTIL} -> opsctl weekly`],
    ["the end of that Monday", none, LAST_MINUTE, worked, `fail ${NO_RUN}; ${MADE_UNTIL} -> opsctl weekly`],
    ["a run that has only begun", none, DUE, runs, WORKS],
    [
      "a Monday that was missed",
      none,
      AFTER,
      worked,
      `fail ${NO_RUN}; that week is closed: nothing more is sent for it -> ` +
        "See the end of /var/log/opsctl/weekly.log for what failed",
    ],
    ["a host on which no run has been", none, DURING, null, `warn ${NO_RUN}; ${MADE_UNTIL} -> opsctl weekly`],
    [
      "the same in the middle of a week",
      none,
      AFTER,
      null,
      "pass no run yet; the first is on Monday at 08:00 (São Paulo) -> null",
    ],
    [
      "owners whom the run did not reach",
      some,
      DURING,
      worked,
      `fail open in the week of 2026-11-16: reports: 3 missing; ${UNTIL_MIDNIGHT} -> ` +
        "opsctl reports status; mend what it names, then opsctl weekly",
    ],
    ["those whom it comes to yet", some, DURING, runs, WORKS],
    ["those of a run of another host", works, DURING, worked, WORKS],
    [
      "owners whom no run reaches any more",
      some,
      AFTER,
      worked,
      "warn open in the week of 2026-11-16: reports: 3 missing; that week is closed: " +
        "nothing more is sent for it, and nothing is left to do -> opsctl reports status",
    ],
    [
      "those beside a delivery that failed",
      { ...some, email: { failed: 1 } },
      AFTER,
      worked,
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
  ])("says of %s what it is", (_name, changes, ms, lastRun, expected) => {
    const { status, reason, mend } = verdictAt(ms, changes, lastRun);
    expect(`${status} ${reason} -> ${mend}`).toBe(expected);
    if (mend !== null) expect(isKnownAdvice(mend, () => false)).toBe(true);
  });

  test("says until when it can be sent, and afterwards what is left to do", () => {
    const changes = { whatsapp: { failed: 2, unknown: 1 } };
    expect(verdictAt(DURING, changes).reason).toBe(
      "open in the week of 2026-11-16: WhatsApp: 2 failed, 1 unknown; " +
        "it can be repeated until 2026-11-24 00:00:00 (São Paulo)",
    );
    const late = verdictAt(AFTER, changes);
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
    const verdict = verdictAt(ms, changes);
    expect(verdict.reason).toMatch(reason);
    expect(verdict.mend).toBe(mend);
    expect(isKnownAdvice(mend, () => false)).toBe(true);
  });
});

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
});
