import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LastRunFacts } from "../../lib/reports/last-run.ts";
import { renderStatus } from "../../lib/reports/render-status.ts";
import { readWeekStatus, type WeekStatus } from "../../lib/reports/status.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { assertInDatabase } from "../support/property.ts";
import { DELIVERIES, describeWeek, emptyWeek, makeOwners, type OwnerKind, REPORTS } from "./support/week.ts";

/** The screen on a host that knows of this run, or of none. */
const screenOf = (status: WeekStatus, run: LastRunFacts | null) =>
  renderStatus(
    status,
    run === null ? { status: "none", hasHostWorked: false } : { status: "found", run },
    NO_TERMINAL,
  );

const DONE: OwnerKind = { report: "completed", whatsapp: "sent", email: "sent" };

describeWeek("opsctl reports status", (ledger) => {
  async function statusOf(kinds: OwnerKind[]) {
    await emptyWeek(ledger);
    const owners = await makeOwners(ledger, kinds);
    return { owners, status: await readWeekStatus(ledger.sql, undefined) };
  }

  test("names each open thing with its code, how often, and the command that comes next", async () => {
    const { status } = await statusOf([
      DONE,
      { report: "missing" },
      { report: "missing" },
      { report: "left" },
      { report: "failed" },
      { report: "running" },
      { report: "completed", whatsapp: "failed", email: "unknown" },
      { report: "completed", whatsapp: "failed", email: "left_after_dispatch" },
      { report: "completed", whatsapp: "partial", email: "missing" },
    ]);
    expect(status.clean).toBe(false);
    const next = "opsctl weekly";
    const lookUp = "opsctl deliveries look-up --all";
    expect(status.open).toEqual([
      { step: "reports", state: "failed", code: "report_evidence_failed", count: 1, next },
      { step: "reports", state: "failed", code: null, count: 1, next },
      { step: "reports", state: "missing", code: null, count: 2, next },
      { step: "reports", state: "running", code: null, count: 1, next: "opsctl reports status" },
      { step: "whatsapp", state: "failed", code: "recipient_phone_missing", count: 2, next },
      {
        step: "whatsapp",
        state: "partial",
        code: "timeline_entry_failed",
        count: 1,
        next: "opsctl deliveries repair",
      },
      { step: "email", state: "missing", code: null, count: 1, next },
      { step: "email", state: "unknown", code: "gateway_timeout", count: 1, next: lookUp },
      { step: "email", state: "unknown", code: "lease_expired_after_dispatch", count: 1, next: lookUp },
    ]);
  });

  test("does not say that no network was asked for once the content of the week was removed", async () => {
    await statusOf([DONE, DONE]);
    await ledger.setClock("2027-03-01T11:00:00Z");
    await ledger.sql`select prune_weekly_performance_reports('2026-11-23T03:00:00Z', 10)`;
    const status = await readWeekStatus(ledger.sql, "2026-11-16");
    expect(status).toMatchObject({ contentRemoved: 2, counts: { reports: { completed: 2 } } });
    expect(screenOf(status, null)).toContain(
      "Networks  not known any more: the content of 2 reports was removed",
    );
  });

  test("names as many open things as the ledger counts, whatever the week looks like", async () => {
    const kind: fc.Arbitrary<OwnerKind> = fc.record({
      report: fc.constantFrom(...REPORTS, "completed" as const, "completed" as const),
      whatsapp: fc.constantFrom(...DELIVERIES),
      email: fc.constantFrom(...DELIVERIES.filter((one) => one !== "partial")),
      isEligible: fc.boolean(),
    });
    await assertInDatabase(
      fc.asyncProperty(fc.array(kind, { maxLength: 6 }), async (kinds) => {
        const { status } = await statusOf(kinds);
        const { counts, open, clean } = status;
        for (const step of ["reports", "whatsapp", "email"] as const)
          for (const state of ["failed", "missing", "unknown", "partial", "running"] as const) {
            const named = open.filter((item) => item.step === step && item.state === state);
            const counted = (counts[step] as Record<string, number>)[state] ?? 0;
            expect(named.reduce((sum, { count }) => sum + count, 0)).toBe(counted);
          }
        expect(clean).toBe(open.length === 0);
      }),
      { numRuns: 20 },
    );
  });

  const WEEK = {
    ...{ week: "2026-11-16", lastDate: "2026-11-22" },
    ...{ start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z" },
  };

  test.each([
    ["2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z"],
    ["2026-11-24T02:59:59Z", "2026-11-24T03:00:00Z"],
    ["2026-11-24T03:00:00Z", null],
    ["2026-11-29T11:00:00Z", null],
  ])("at %s is about the last closed week, to be repeated until %p", async (clock, retryableUntil) => {
    await ledger.setClock(clock);
    for (const week of [undefined, "2026-11-16"])
      expect(await readWeekStatus(ledger.sql, week)).toMatchObject({ ...WEEK, retryableUntil });
  });

  test("an older week is closed for good, also on a Monday", async () => {
    await ledger.setClock("2026-11-30T11:00:00Z");
    const status = await readWeekStatus(ledger.sql, "2026-11-16");
    expect(status).toMatchObject({ ...WEEK, retryableUntil: null });
  });

  test("counts calendar days over a change of the clocks", async () => {
    const { start, end } = await readWeekStatus(ledger.sql, "2018-10-29");
    expect([start, end]).toEqual(["2018-10-29T03:00:00Z", "2018-11-05T02:00:00Z"]);
  });

  test.each(["2026-11-23", "2026-11-30", "2030-01-07"])(
    "refuses the week of %s, which has not ended",
    async (week) => {
      await ledger.setClock("2026-11-29T23:59:00Z");
      await expect(readWeekStatus(ledger.sql, week)).rejects.toMatchObject({ code: "WEEK_NOT_CLOSED" });
    },
  );
});

describe("the screen of opsctl reports status", () => {
  const week = {
    ...{
      week: "2026-11-16",
      lastDate: "2026-11-22",
      start: "2026-11-16T03:00:00Z",
      end: "2026-11-23T03:00:00Z",
    },
    ...{ retryableUntil: "2026-11-24T03:00:00Z" as string | null, runDue: true },
  };
  const none = { sent: 0, partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 };
  const counts = {
    owners: 3,
    reports: { missing: 1, running: 0, failed: 0, completed: 2 },
    whatsapp: { ...none, sent: 1, unknown: 1 },
    email: { ...none, sent: 2 },
    social: { connected: 4, failed: 1, owners: 1 },
    noLongerEligible: { reports: 0, whatsapp: 0, email: 0 },
    before: null,
  };
  const run = {
    ...{ waiting: null, beside: null, heartbeat: null },
    ...{ status: "failed" as const, runId: "r", host: "vps-1", code: "sem_instancia_gateway" },
    ...{ begunAt: "2026-11-23T11:00:02Z", finishedAt: "2026-11-23T11:14:40Z" },
  };
  const open = [
    { step: "reports" as const, state: "missing" as const, code: null, count: 1, next: "opsctl weekly" },
    {
      ...{ step: "whatsapp" as const, state: "unknown" as const, code: "gateway_timeout", count: 2 },
      next: "opsctl deliveries look-up --all",
    },
  ];

  test("is one screen: who ran, what is done, what is open and until when, in São Paulo's time", () => {
    const status = {
      ...week,
      clean: false,
      hasRun: true,
      counts,
      contentRemoved: 0,
      changedAt: "2026-11-23T11:14:39Z",
      open,
    };
    expect(screenOf(status, run).split("\n")).toEqual([
      "Week of 2026-11-16 to 2026-11-22: OPEN",
      "",
      "  Last run  failed (sem_instancia_gateway), 2026-11-23 08:00:02 to 08:14:40, on vps-1",
      "  Ledger    last changed 2026-11-23 08:14:39",
      "  Owners    3",
      "  Reports   2 completed, 1 missing",
      "  Networks  4 asked for, 1 failed (1 owner)",
      "  WhatsApp  1 sent, 1 unknown",
      "  E-mail    2 sent",
      "",
      "Open; it can be repeated until 2026-11-24 00:00:00 (São Paulo):",
      "  1 report missing",
      "    -> opsctl weekly",
      "  2 WhatsApp messages in doubt (unknown): gateway_timeout",
      "    -> opsctl deliveries look-up --all",
      "Before the next run, fix the problems listed above: opsctl doctor weekly",
      "Who lacks what:",
      "  opsctl reports list --week 2026-11-16 --state open",
      "",
      "Times are those of America/Sao_Paulo.",
      "",
    ]);
  });
});
