import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { DatabaseWait } from "../../../lib/weekly/context/run-start.ts";
import { after, answerLost, before, type Which } from "../../standins/statement-proxy.ts";
import { startTcpProxy, type TcpProxy } from "../../standins/tcp-proxy.ts";
import { seedOwner } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import {
  CLAIM_DELIVERY,
  CLAIM_REPORT,
  DISPATCH,
  LIST_OWNERS,
  READ_CLOCK,
  READ_EVIDENCE,
  SETTLE,
  STORE_REPORT,
} from "../support/steps.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const MINUTE = 60_000;
const shared = sharedWeekly();
/** The way to the database of a run that loses it for good. */
let proxy: TcpProxy;
let databaseUrl: string;
beforeAll(async () => {
  const url = new URL(shared().db.url);
  proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  databaseUrl = url.href;
});
beforeEach(() => proxy.open());
afterAll(async () => await proxy.stop());

async function oneOwner(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql);
  plantHeartbeat(weekly);
  return weekly;
}

/** Everything was done once, as if nothing had happened. */
async function expectDoneOnce(weekly: WeeklyFixture): Promise<void> {
  expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
  expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
  expect(weekly.application.analyzed).toHaveLength(2);
  const [entries] = await weekly.db.sql`select count(*)::int as n from timeline_entries`;
  expect(entries!.n).toBe(1);
  // Repeated with its token, a claim is the same one: no second attempt, and no lease without a holder.
  const attempts = await weekly.db.sql`
    select attempts from weekly_performance_reports union all select attempts from weekly_performance_deliveries`;
  expect(attempts.map((row) => row.attempts)).toEqual([1, 1, 1]);
}

const STEPS: [string, Which][] = [
  [CLAIM_REPORT, {}],
  [STORE_REPORT, {}],
  [CLAIM_DELIVERY, {}],
  [DISPATCH, {}],
  [SETTLE, {}],
  [CLAIM_DELIVERY, { nth: 2 }],
  [DISPATCH, { nth: 2 }],
  [SETTLE, { nth: 2 }],
];

describe("runWeekly() when a database session is ended in the middle of a statement", () => {
  /** Lets the statement wait for a lock, and ends the session that waits. */
  async function endWaitingSession({ db: { sql } }: WeeklyFixture, table: string): Promise<void> {
    const locked = Promise.withResolvers<void>();
    void sql
      .begin(async (tx) => {
        await tx.unsafe(`lock table ${table} in access exclusive mode`);
        locked.resolve();
        await until("a session that waits for the lock", async () => {
          const ended = await sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'opsctl-test' and wait_event_type = 'Lock'`;
          return ended.length > 0;
        });
      })
      .catch(locked.reject);
    await locked.promise;
  }

  test.each<[string, string]>([
    [LIST_OWNERS, "tenants"],
    [READ_EVIDENCE, "social_account_scores"],
    [CLAIM_REPORT, "weekly_performance_reports"],
    [STORE_REPORT, "weekly_performance_reports"],
    [CLAIM_DELIVERY, "weekly_performance_deliveries"],
    [DISPATCH, "weekly_performance_deliveries"],
    [SETTLE, "weekly_performance_deliveries"],
  ])("%s is repeated: the run is a success, and each message is sent once", async (step, table) => {
    const weekly = await oneOwner();
    const summary = await weekly.run({}, { at: [before(step, () => endWaitingSession(weekly, table))] });
    expect(summary).toMatchObject({ status: "success", heartbeat: "written", failures: [] });
    await expectDoneOnce(weekly);
  });
});

describe("runWeekly() when the answer to a commit is lost", () => {
  test.each(STEPS)("%s %j: no false failure, nothing sent twice", async (step, which) => {
    const weekly = await oneOwner();
    const summary = await weekly.run({}, { at: [answerLost(step, which)] });
    expect(summary).toMatchObject({ status: "success", heartbeat: "written", failures: [] });
    await expectDoneOnce(weekly);
  });

  test("three lost answers and a signal: the result is recorded, and no claim stays behind", async () => {
    const weekly = await oneOwner();
    const interrupt = new AbortController();
    const loseAndEnd = () => {
      interrupt.abort();
      return "cut";
    };
    const at = [1, 2, 3].map((nth) => after(SETTLE, loseAndEnd, { nth }));
    const summary = await weekly.run({}, { at, interrupt: interrupt.signal });
    expect(summary).toMatchObject({
      error: { code: "RUN_INTERRUPTED" },
      whatsapp: { sent: 1 },
      email: { sent: 0 },
    });
    expect(await weekly.run()).toMatchObject({ status: "success", email: { sent: 1, partial: 0 } });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
  });
});

describe("runWeekly() whose database is unavailable at one step", () => {
  test.each<[string, string, number, number]>([
    [CLAIM_REPORT, "two minutes", 2 * MINUTE, 0],
    [READ_EVIDENCE, "two minutes", 2 * MINUTE, 0],
    [READ_EVIDENCE, "a minute, which is left of the lease", MINUTE, 19 * MINUTE],
  ])("%s is repeated for %s", async (step, _name, repeatedMs, analysisMs) => {
    const weekly = await oneOwner();
    const time = virtualTime();
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      // Both networks are asked one after the other.
      await time.sleep(analysisMs / 2);
      await analyse(body);
    };
    const triedAt: number[] = [];
    const cut = before(
      step,
      () => {
        triedAt.push(time.monotonicMs());
        return "cut";
      },
      { nth: "every" },
    );
    expect(await weekly.run({}, { ...time, at: [cut] })).toMatchObject({ exitCode: 1, heartbeat: "kept" });
    expect(triedAt.at(-1)! - triedAt[0]!).toBe(repeatedMs);
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
  });
});

describe("runWeekly() when the database is gone for good", () => {
  test("a database lost during an analysis: DATABASE_LOST, no further call, and the run ends", async () => {
    const weekly = shared();
    for (let i = 0; i < 20; i += 1) await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    weekly.onAnalyze = async () => proxy.close();
    const summary = await weekly.run({ concurrency: 2 }, { databaseUrl, ...virtualTime() });
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      finishedAt: null,
      error: { code: "DATABASE_LOST" },
    });
    expect(weekly.application.routes.analysis.calls.length).toBeLessThanOrEqual(4);
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("a database lost during a send: the provider's id is in the summary, the row becomes unknown, nobody sends it again", async () => {
    const weekly = await oneOwner();
    weekly.gateway.routes.send.script = () => {
      proxy.close();
      return undefined;
    };
    const summary = await weekly.run({}, { databaseUrl, ...virtualTime() });
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "DATABASE_LOST" },
      whatsapp: { partial: 1, sent: 0 },
      email: { sent: 0 },
    });
    expect(summary.failures).toContainEqual(
      expect.objectContaining({
        step: "whatsapp",
        code: "delivery_not_recorded",
        deliveryId: expect.any(String),
        providerMessageId: weekly.gateway.accepted[0]!.id,
      }),
    );
    expect(isHeartbeatKept(weekly)).toBe(true);

    weekly.gateway.routes.send.script = null;
    await weekly.db.sql`update weekly_performance_deliveries set lease_expires_at = weekly_performance_now()`;
    expect(await weekly.run()).toMatchObject({ exitCode: 1, whatsapp: { unknown: 1 }, email: { sent: 1 } });
    expect(weekly.gateway.accepted).toHaveLength(1);
  });

  test("a database lost during the drain: neither drain nor heartbeat is treated as done", async () => {
    const weekly = await oneOwner();
    weekly.application.routes.editorial.script = () => {
      proxy.close();
      return undefined;
    };
    const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
    const summary = await weekly.run({ editorials }, { databaseUrl, ...virtualTime() });
    expect(summary).toMatchObject({
      exitCode: 1,
      heartbeat: "kept",
      error: { code: "DATABASE_LOST" },
      editorials: { status: "failed", code: "SOCIAL_EDITORIALS_LOCK_LOST", calls: 1 },
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("a database that is gone before the run begins: the run says that it waits, and until when, before it goes on", async () => {
    const weekly = await oneOwner();
    const seen: unknown[] = [];
    const runId = "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d";
    const summary = await weekly.run(
      {},
      {
        ...virtualTime(),
        at: [1, 2, 3, 4, 5, 6].map((nth) => before(READ_CLOCK, () => "cut", { nth })),
        runId,
        onDatabaseWait: (wait: DatabaseWait) => void seen.push(wait),
        onBegin: () => void seen.push("begun"),
      },
    );
    expect(summary).toMatchObject({ status: "success" });
    expect(seen).toEqual([
      { version: "0.0.0-test", runId, code: "DATABASE_LOST", limitMs: expect.any(Number) },
      "begun",
    ]);
    const [{ limitMs }] = seen as [DatabaseWait];
    // Five minutes, but for the second and a half that were nothing to speak of.
    expect(limitMs).toBeGreaterThan(290_000);
    expect(limitMs).toBeLessThanOrEqual(298_500);
  });
});
