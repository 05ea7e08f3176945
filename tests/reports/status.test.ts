import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { LastRunFacts } from "../../lib/reports/last-run.ts";
import { renderStatus } from "../../lib/reports/render-status.ts";
import { readWeekStatus, type WeekStatus } from "../../lib/reports/status.ts";
import { assertInDatabase } from "../support/property.ts";
import {
  DELIVERIES,
  describeWeek,
  emptyWeek,
  makeOwners,
  type OwnerKind,
  REPORTS,
  withoutGuards,
} from "./support/week.ts";

/** The screen on a host that knows of this run, or of none. */
const screenOf = (status: WeekStatus, run: LastRunFacts | null) =>
  renderStatus(status, run === null ? { status: "none", hasHostWorked: false } : { status: "found", run });

const DONE: OwnerKind = { report: "completed", whatsapp: "sent", email: "sent" };

describeWeek("readWeekStatus()", (ledger) => {
  async function statusOf(kinds: OwnerKind[]) {
    await emptyWeek(ledger);
    const owners = await makeOwners(ledger, kinds);
    return { owners, status: await readWeekStatus(ledger.sql, undefined) };
  }

  test("of a week in which everything is sent is clean", async () => {
    const { status } = await statusOf([DONE, DONE]);
    expect(status).toMatchObject({
      week: "2026-11-16",
      clean: true,
      open: [],
      changedAt: "2026-11-23T11:25:00Z",
      retryableUntil: "2026-11-24T03:00:00Z",
      counts: { owners: 2, reports: { completed: 2 }, whatsapp: { sent: 2 }, email: { sent: 2 } },
    });
  });

  test("of a week without owners is clean, and its ledger is empty", async () => {
    const { status } = await statusOf([]);
    expect(status).toMatchObject({ clean: true, open: [], changedAt: null });
  });

  test("says that nothing has run yet instead of what a closed week lacks", async () => {
    const { status } = await statusOf([{ report: "missing" }, { report: "missing" }]);
    expect(status).toMatchObject({ clean: false, hasRun: false });
    const monday = screenOf(status, null);
    expect(monday).toStartWith("Week of 2026-11-16 to 2026-11-22: no run yet\n");
    expect(monday).toContain("No run has begun today; by hand until 2026-11-24 00:00:00: opsctl weekly\n");
    await ledger.setClock("2026-11-24T03:00:00Z");
    const closed = screenOf(await readWeekStatus(ledger.sql, undefined), null);
    expect(closed).toContain("The first run is on Monday at 08:00.\n");
    expect(closed).not.toMatch(/missing|OPEN|closed/);
  });

  test("speaks of the week where a run has begun, be it another week or only on this host", async () => {
    const { status } = await statusOf([DONE, { report: "missing" }]);
    expect(status.hasRun).toBe(true);
    await ledger.setClock("2026-11-30T14:00:00Z");
    const later = await readWeekStatus(ledger.sql, undefined);
    expect(later).toMatchObject({ week: "2026-11-23", hasRun: true, changedAt: null });
    expect(screenOf(later, null)).toStartWith("Week of 2026-11-23 to 2026-11-29: OPEN, no run has begun\n");
    const killed = {
      ...({ status: "ended", runId: "r", host: "h", begunAt: null, finishedAt: null } as const),
    };
    const lastRun = { ...killed, code: null, waiting: null, beside: null, heartbeat: null };
    expect(screenOf({ ...status, hasRun: false }, lastRun)).toContain(": OPEN\n");
  });

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

  test("of a closed week names the owners instead of a run that could do nothing", async () => {
    const { owners } = await statusOf([
      { report: "missing" },
      { report: "completed", whatsapp: "failed", email: "unknown" },
    ]);
    await ledger.setClock("2026-11-24T03:00:00Z");
    const status = await readWeekStatus(ledger.sql, "2026-11-16");
    expect(status.retryableUntil).toBeNull();
    expect(status.open.map(({ next }) => next)).toEqual([
      "opsctl reports list --week 2026-11-16 --state missing",
      "opsctl reports list --week 2026-11-16 --state failed",
      "opsctl deliveries look-up --all",
    ]);
    expect(owners).toHaveLength(2);
  });

  test("leaves out what failed for an owner who gets no reports any more, and keeps their doubts", async () => {
    const { status } = await statusOf([
      { report: "failed", isEligible: false },
      { report: "completed", whatsapp: "failed", email: "sent", isEligible: false },
    ]);
    expect(status).toMatchObject({
      clean: true,
      open: [],
      counts: { noLongerEligible: { reports: 1, whatsapp: 1 } },
    });
    expect(screenOf(status, null)).toContain(
      "Left out  2 failed or missing for owners who get no reports any more",
    );
    const doubt = await statusOf([
      { report: "completed", whatsapp: "unknown", email: "sent", isEligible: false },
    ]);
    expect(doubt.status.open).toMatchObject([{ step: "whatsapp", state: "unknown", count: 1 }]);
  });

  test("says that too many networks failed, and is not clean then", async () => {
    const { owners } = await statusOf([DONE, DONE, DONE]);
    await withoutGuards(ledger, async (tx) => {
      const source = {
        channel: "linkedin",
        connectionId: crypto.randomUUID(),
        status: "failed",
        code: "APP_TIMEOUT",
      };
      for (const { reportId } of owners)
        await tx`update weekly_performance_reports set payload = payload ||
          ${JSON.stringify({ provenance: { sources: [source] } })}::text::jsonb where id = ${reportId}`;
    });
    const status = await readWeekStatus(ledger.sql, undefined);
    expect(status).toMatchObject({
      clean: false,
      open: [
        {
          ...{ step: "social", state: "failed", code: "SOCIAL_ALL_CALLS_FAILED", count: 3 },
          next: "opsctl reports list --week 2026-11-16 --channel linkedin",
        },
      ],
    });
    // No run reads them again, and no owner is open.
    expect(screenOf(status, null)).not.toMatch(/Before the next run|--state open/);
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

  test("changes nothing, not even where the login could", async () => {
    const { readOnly } = await import("../../lib/ledger/read-only.ts");
    const write = readOnly(ledger.sql, async (tx) => await tx`delete from tenants`);
    await expect(write).rejects.toMatchObject({ code: "25006" });
  });
});

describe("screenOf()", () => {
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
      "Open; what failed or is missing can be repeated until 2026-11-24 00:00:00:",
      "  1 report missing",
      "    -> opsctl weekly",
      "  2 WhatsApp messages in doubt (unknown): gateway_timeout",
      "    -> opsctl deliveries look-up --all",
      "",
      "Times are those of America/Sao_Paulo.",
      "",
    ]);
  });

  test("says how many owners there were before, when far fewer get a report", () => {
    const fewer = { ...counts, owners: 2, before: { week: "2026-11-09", owners: 412 } };
    const status = { ...week, clean: true, hasRun: true, contentRemoved: 0, changedAt: null, open: [] };
    const advice = "\nFar fewer owners than before. Why that may be: opsctl explain OWNERS_DROPPED\n";
    expect(screenOf({ ...status, counts: fewer }, null)).toContain(
      "  Owners    2; 412 in the week of 2026-11-09\n",
    );
    expect(screenOf({ ...status, counts: fewer }, null)).toContain(advice);
    expect(screenOf({ ...status, counts }, null)).not.toContain(advice);
    // Nobody has been left out before the run.
    const early = { ...fewer, reports: { ...counts.reports, missing: 2, completed: 0 } };
    const awaited = screenOf({ ...status, clean: false, runDue: false, counts: early }, null);
    expect(awaited).toContain(": the run is due at 08:00\n");
    expect(awaited).not.toContain(advice);
  });

  test("names the decision that a run waits for, unless one works, or the week is closed", () => {
    const status = { ...week, clean: false, hasRun: true, counts, contentRemoved: 0, changedAt: null, open };
    const refused = { ...run, status: "not_ready" as const, code: "LEDGER_WENT_BACK" };
    const decision = "\nNo run begins before this is decided: opsctl explain LEDGER_WENT_BACK\n";
    expect(screenOf(status, refused)).toContain(decision);
    // Another host's run holds a lease.
    const inWork = { ...counts, email: { ...counts.email, running: 1 } };
    const works = screenOf({ ...status, counts: inWork }, refused);
    expect(works).toContain(": OPEN, a run works on it\n");
    expect(works).not.toContain(decision);
    expect(screenOf({ ...status, retryableUntil: null }, refused)).not.toContain(decision);
  });

  test("says of a run that has not begun what it waits for, since when and until when", () => {
    const waiting = {
      waitsFor: "database" as const,
      code: "57P03",
      since: "2026-11-23T11:00:03Z",
      until: "2026-11-23T11:05:03Z",
    };
    const done = { ...week, clean: false, hasRun: true, counts, contentRemoved: 0, changedAt: null, open };
    const of = (status: "running" | "ended") =>
      screenOf(done, { ...run, status, begunAt: null, finishedAt: null, code: null, waiting }).split("\n")[2];
    expect(of("running")).toBe(
      "  Last run  waits for the database (57P03) since 2026-11-23 08:00:03, until 08:05:03 at most, on vps-1",
    );
    expect(of("ended")).toBe(
      "  Last run  was killed while it waited for the database (57P03), since 2026-11-23 08:00:03, on vps-1",
    );
  });

  test("asks for one more run when the week was mended after its last one, and never else", () => {
    const done = { ...week, clean: true, hasRun: true, counts, contentRemoved: 0, changedAt: null, open: [] };
    const once = "\nNothing is open. Write the heartbeat and end the alarm: opsctl weekly\n";
    for (const status of ["failed", "not_ready", "ended"] as const)
      expect(screenOf(done, { ...run, status })).toContain(once);
    for (const status of ["success", "running"] as const)
      expect(screenOf(done, { ...run, status })).not.toContain("opsctl weekly");
    const beside = screenOf(done, { ...run, beside: "HEARTBEAT_UNWRITABLE" });
    expect(beside).not.toContain(once);
    expect(beside).toContain(
      "Nothing is open, but the run failed. What to mend: opsctl explain HEARTBEAT_UNWRITABLE\n" +
        "Then, until 2026-11-24 00:00:00: opsctl weekly\n",
    );
    expect(screenOf(done, null)).not.toContain("opsctl weekly");
    expect(screenOf({ ...done, retryableUntil: null }, run)).not.toContain("opsctl weekly");
    expect(screenOf({ ...done, clean: false, hasRun: true, open }, run)).not.toContain(once);
  });

  test("says that a closed week gets nothing more, and that this host knows of no run", () => {
    const text = screenOf(
      {
        ...week,
        retryableUntil: null,
        clean: false,
        hasRun: true,
        counts,
        contentRemoved: 0,
        changedAt: null,
        open,
      },
      null,
    );
    expect(text).toContain("Open; this week is closed, nothing more is sent for it:\n");
    const doubt = screenOf(
      {
        ...week,
        clean: false,
        hasRun: true,
        counts,
        contentRemoved: 0,
        changedAt: null,
        open: open.slice(1),
      },
      null,
    );
    expect(doubt).toContain("\nOpen:\n  2 WhatsApp messages in doubt");
    const failed = { ...open[0]!, state: "failed" as const, code: "report_persist_failed" };
    const mend =
      "Before the next run, mend what the codes name: opsctl doctor weekly\nWho lacks what:\n  opsctl reports list --week 2026-11-16 --state open\n";
    const status = { ...week, clean: false, hasRun: true, counts, contentRemoved: 0, changedAt: null };
    expect(screenOf({ ...status, open: [failed] }, null)).toContain(mend);
    for (const other of [
      { ...status, open },
      { ...status, open: [failed], retryableUntil: null },
    ])
      expect(screenOf(other, null)).not.toContain(mend);
    expect(text).toContain("  Last run  none of this week on this host\n  Ledger    empty\n");
  });
});
