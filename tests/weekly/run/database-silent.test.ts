import { describe, expect, test } from "bun:test";
import { seedOwners } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { deliveriesByOwner, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

/** Long for a statement of these tests, and short for their time limit. */
const LIMIT_MS = 1_000;

const shared = sharedWeekly();

async function monday(owners = 1): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwners(weekly.db.sql, owners);
  plantHeartbeat(weekly);
  return weekly;
}

/** Does something while another session holds a table; what still waits for it at the end is killed, or goes on. */
async function whileLocked<T>(
  { db }: WeeklyFixture,
  table: string,
  act: () => Promise<T>,
  { goesOn = false } = {},
): Promise<T> {
  return (await db.sql.begin(async (tx) => {
    await tx.unsafe(`lock table ${table} in access exclusive mode`);
    try {
      return await act();
    } finally {
      if (!goesOn)
        await tx`select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and application_name = 'opsctl-test'`;
    }
  })) as T;
}

/** What each statement of the runs waits for at the server; of a run that has ended, those that go on. */
async function underWay({ db }: WeeklyFixture): Promise<unknown[]> {
  const rows = await db.sql`
    select wait_event_type from pg_stat_activity
    where datname = current_database() and application_name = 'opsctl-test' and state = 'active'`;
  return rows.map((row) => row.wait_event_type);
}

const isWaitingForLock = async (weekly: WeeklyFixture) => (await underWay(weekly)).includes("Lock");

/** A sleep in which the stages of the end come at once, and every other wait lasts until it is aborted. */
const endingAtOnce = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (ms === 18_000 || ms === 6_000) return resolve();
    signal?.addEventListener("abort", () => reject(signal.reason));
  });

describe("runWeekly() on a database that does not answer", () => {
  test("no answer to a result: a signal ends the run, the row stays as dispatched, and nobody sends it again", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    await whileLocked(weekly, "timeline_entries", async () => {
      const running = weekly.run({}, { interrupt: signal.signal, sleep: endingAtOnce });
      await until("a run that waits for the lock", () => isWaitingForLock(weekly));
      signal.abort();
      const summary = await running;
      expect(summary).toMatchObject({
        status: "failed",
        exitCode: 1,
        finishedAt: null,
        heartbeat: "kept",
        error: { code: "RUN_INTERRUPTED" },
        whatsapp: { partial: 1, sent: 0 },
        email: { skipped: 1 },
      });
      expect(summary.failures).toContainEqual(
        expect.objectContaining({
          code: "delivery_not_recorded",
          providerMessageId: weekly.gateway.accepted[0]!.id,
        }),
      );
      const rows = [...(await deliveriesByOwner(weekly, "whatsapp")).values()];
      expect(rows).toMatchObject([{ status: "running", dispatched: true }]);
    });
    expect(isHeartbeatKept(weekly)).toBe(true);

    await weekly.db.sql`update weekly_performance_deliveries set lease_expires_at = weekly_performance_now()`;
    expect(await weekly.run()).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, email: { sent: 1 } });
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("no answer to claims: each is given up at the limit, and the run ends by itself", async () => {
    const weekly = await monday(2);
    // The limit is a minute of this clock.
    const monotonicMs = () => (performance.now() * 60_000) / LIMIT_MS;
    const summary = await whileLocked(weekly, "weekly_performance_reports", () =>
      weekly.run({}, { statementLimitMs: LIMIT_MS, monotonicMs }),
    );
    expect(summary).toMatchObject({ status: "failed", exitCode: 1, reports: { failed: 2 } });
    expect(summary.failures.map(({ code }) => code)).toEqual(Array(2).fill("report_claim_failed"));
    expect(weekly.application.ledger).toEqual([]);
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("a claim that takes effect when the run has ended keeps the owner busy until its lease ends, and sends nothing", async () => {
    const weekly = await monday();
    const monotonicMs = () => (performance.now() * 60_000) / LIMIT_MS;
    const claiming = () => weekly.run({}, { statementLimitMs: LIMIT_MS, monotonicMs });
    const given = await whileLocked(weekly, "weekly_performance_reports", claiming, { goesOn: true });
    expect(given.failures.map(({ code }) => code)).toEqual(["report_claim_failed"]);
    await until("the end of all statements", async () => (await underWay(weekly)).length === 0);
    const claimed = await weekly.db.sql`
      select 1 from weekly_performance_reports where status = 'running' and lease_expires_at > weekly_performance_now()`;
    expect(claimed).toHaveLength(1);

    expect(await weekly.run()).toMatchObject({ exitCode: 1, reports: { busy: 1 }, whatsapp: { sent: 0 } });
    await weekly.db.sql`update weekly_performance_reports set lease_expires_at = weekly_performance_now()`;
    expect(await weekly.run()).toMatchObject({
      exitCode: 0,
      reports: { completed: 1 },
      whatsapp: { sent: 1 },
    });
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("no answer to the first questions: DATABASE_TIMEOUT", async () => {
    const weekly = await monday();
    const running = whileLocked(weekly, "tenants", () => weekly.run({}, { statementLimitMs: LIMIT_MS }));
    await expect(running).rejects.toMatchObject({
      code: "DATABASE_TIMEOUT",
      message: "Cannot list the tenant owners: the database did not answer in time",
    });
  });

  test("no answer to the first questions, and a signal: the run ends all the same", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    const running = whileLocked(weekly, "tenants", async () => {
      const run = weekly.run({}, { interrupt: signal.signal, sleep: endingAtOnce });
      run.catch(() => {});
      await until("a run that waits for the lock", () => isWaitingForLock(weekly));
      signal.abort();
      return await run;
    });
    await expect(running).rejects.toMatchObject({ code: "DATABASE_TIMEOUT" });
  });
});
