import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { DatabaseWait } from "../../../lib/weekly/context/run-start.ts";
import type { Store } from "../../../lib/weekly/database/store.ts";
import { startTcpProxy, type TcpProxy } from "../../standins/tcp-proxy.ts";
import { seedOwner } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, until } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { skippingTime } from "../support/skipping-time.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { FixtureChanges, WeeklyFixture } from "../support/weekly-fixture.ts";

type Step = Exclude<keyof Store, "withDrainLock">;

const shared = sharedWeekly();
let proxy: TcpProxy;
let databaseUrl: string;
beforeAll(async () => {
  const url = new URL(shared().db.url);
  proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  databaseUrl = url.href;
});
beforeEach(() => {
  proxy.open();
  proxy.lost = 0;
});
afterAll(async () => await proxy.stop());

async function oneOwner(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql);
  plantHeartbeat(weekly);
  return weekly;
}

/** Wraps the first use of one step. */
function firstOf(
  step: Step,
  wrap: (call: () => Promise<unknown>) => Promise<unknown>,
): NonNullable<FixtureChanges["wrapStore"]> {
  let isFirst = true;
  return (store: Store) => ({
    [step]: async (...args: never[]) => {
      const call = () => (store[step] as (...given: never[]) => Promise<unknown>)(...args);
      if (!isFirst) return await call();
      isFirst = false;
      return await wrap(call);
    },
  });
}

function losingAnswerOf(step: Step, name: string) {
  return firstOf(step, (call) => {
    proxy.loseAnswerTo(name);
    return call();
  });
}

const REPORTS = "weekly_performance_reports";
const DELIVERIES = "weekly_performance_deliveries";

describe("runWeekly() when a database session is ended in the middle of a statement", () => {
  test.each<[Step, string]>([
    ["listScopes", "tenants"],
    ["claimReport", REPORTS],
    ["readEvidence", "social_account_scores"],
    ["persistReport", REPORTS],
    ["claimWhatsapp", DELIVERIES],
    ["claimEmail", DELIVERIES],
    ["dispatchDelivery", DELIVERIES],
    ["settleDelivery", DELIVERIES],
  ])("%s is repeated: the run is a success, and each message is sent once", async (step, table) => {
    const weekly = await oneOwner();
    const { sql } = weekly.db;
    let ended = 0;
    const summary = await weekly.run(
      {},
      {
        wrapStore: firstOf(step, async (call) => {
          let statement: Promise<unknown> | undefined;
          await sql.begin(async (tx) => {
            await tx.unsafe(`lock table ${table} in access exclusive mode`);
            statement = call();
            statement.catch(() => {});
            // Only the session that waits for the lock.
            await until(async () => {
              const rows = await sql`
                select pg_terminate_backend(pid) from pg_stat_activity
                where datname = current_database() and application_name = 'opsctl-test' and wait_event_type = 'Lock'`;
              ended += rows.length;
              return rows.length > 0;
            });
          });
          return await statement;
        }),
      },
    );
    expect(ended).toBeGreaterThan(0);
    expect(summary).toMatchObject({ status: "success", heartbeat: "written", failures: [] });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
    expect(weekly.application.analyzed).toHaveLength(2);
  });
});

describe("runWeekly() when the answer to a commit is lost", () => {
  test.each([
    ["claimReport", "claim_weekly_performance_report"],
    ["claimWhatsapp", "claim_weekly_performance_delivery"],
    ["claimEmail", "claim_weekly_performance_delivery"],
    ["persistReport", "persist_weekly_performance_report"],
    ["dispatchDelivery", "dispatch_weekly_performance_delivery"],
    ["settleDelivery", "settle_weekly_performance_delivery"],
    ["persistAndClaimWhatsapp", "persist_weekly_performance_report"],
    ["settleAndClaimEmail", "settle_weekly_performance_delivery"],
  ] as const)("%s: no false failure, nothing sent twice", async (step, name) => {
    const weekly = await oneOwner();
    const summary = await weekly.run({}, { databaseUrl, wrapStore: losingAnswerOf(step, name) });
    expect(proxy.lost).toBe(1);
    expect(summary).toMatchObject({ status: "success", heartbeat: "written", failures: [] });
    expect(await deliveryStates(weekly)).toEqual(["email sent x1", "whatsapp sent x1"]);
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
    const [entries] = await weekly.db.sql`select count(*)::int as n from timeline_entries`;
    expect(entries!.n).toBe(1);
    // Repeated with its token, a claim is the same one: no second attempt, and no lease without a holder.
    const attempts = await weekly.db.sql`
      select attempts from weekly_performance_reports union all select attempts from weekly_performance_deliveries`;
    expect(attempts.map((row) => row.attempts)).toEqual([1, 1, 1]);
  });
});

describe("runWeekly() whose database is away at one step alone", () => {
  const LOST = Object.assign(new Error("lost"), { code: "ECONNRESET" });
  const REFUSED = Object.assign(new Error("refused"), { code: "22P02" });
  const MINUTE = 60_000;

  /** Refuses each call of a step, and tells for how long it was repeated. */
  async function repeatedFor(
    step: Step,
    failing: Partial<Record<Step, Error>>,
    analysisMs: number,
  ): Promise<number> {
    const weekly = await oneOwner();
    const { monotonicMs, sleep } = virtualTime();
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      await sleep(analysisMs);
      await analyse(body);
    };
    const calls: number[] = [];
    const fail = (name: Step, error: Error) => async () => {
      if (name === step) calls.push(monotonicMs());
      throw error;
    };
    const wrapped = Object.entries(failing).map(([name, error]) => [name, fail(name as Step, error)]);
    const summary = await weekly.run(
      {},
      { monotonicMs, sleep, wrapStore: () => Object.fromEntries(wrapped) },
    );
    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept" });
    return calls.at(-1)! - calls[0]!;
  }

  test.each<[Step, string, number, Partial<Record<Step, Error>>, number]>([
    ["claimReport", "", 2 * MINUTE, { claimReport: LOST }, 0],
    ["readEvidence", "", 2 * MINUTE, { readEvidence: LOST }, 0],
    ["readEvidence", " before a lease ends", MINUTE, { readEvidence: LOST }, 19 * MINUTE],
    [
      "failReport",
      " of a report that failed by itself",
      2 * MINUTE,
      { readEvidence: REFUSED, failReport: LOST },
      0,
    ],
    [
      "failReport",
      " of a report that has waited already",
      5_000,
      { readEvidence: LOST, failReport: LOST },
      0,
    ],
  ])(
    "%s%s is repeated for as long as it is worth it",
    async (step, _what, patienceMs, failing, analysisMs) => {
      expect(await repeatedFor(step, failing, analysisMs)).toBe(patienceMs);
    },
  );
});

describe("runWeekly() when the database is away for a while", () => {
  test.each<[Step]>([["persistReport"], ["dispatchDelivery"], ["settleDelivery"]])(
    "at %s: it goes on where it was",
    async (step) => {
      const weekly = await oneOwner();
      let waits = 0;
      const summary = await weekly.run(
        {},
        {
          databaseUrl,
          wrapStore: firstOf(step, async (call) => {
            proxy.close();
            return await call();
          }),
          sleep: async () => {
            waits += 1;
            if (waits === 3) proxy.open();
          },
        },
      );
      expect(waits).toBeGreaterThanOrEqual(3);
      expect(summary).toMatchObject({ status: "success", heartbeat: "written" });
      expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
    },
  );
});

describe("runWeekly() when the database is gone for good", () => {
  test("during an analysis: DATABASE_LOST, no further call, and the run ends", async () => {
    const weekly = shared();
    for (let i = 0; i < 20; i += 1) await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    weekly.onAnalyze = async () => proxy.close();
    const summary = await weekly.run({ concurrency: 2 }, { databaseUrl, ...skippingTime() });
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

  test("during a send: the provider's id is in the summary, the row becomes unknown, nobody sends it again", async () => {
    const weekly = await oneOwner();
    weekly.gateway.routes.send.script = () => {
      proxy.close();
      return undefined;
    };
    const summary = await weekly.run({}, { databaseUrl, ...skippingTime() });
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

  test("before the drain and before the heartbeat: neither is taken for done", async () => {
    const weekly = await oneOwner();
    weekly.application.routes.editorial.script = () => {
      proxy.close();
      return undefined;
    };
    const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
    const summary = await weekly.run({ editorials }, { databaseUrl, ...skippingTime() });
    expect(summary).toMatchObject({
      exitCode: 1,
      heartbeat: "kept",
      error: { code: "DATABASE_LOST" },
      editorials: { status: "failed", code: "SOCIAL_EDITORIALS_LOCK_LOST", calls: 1 },
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("before the run begins: it is said that the run waits, and until when, before it goes on", async () => {
    const weekly = await oneOwner();
    let failures = 6;
    const wrapStore: FixtureChanges["wrapStore"] = (store) => ({
      now: async () => {
        failures -= 1;
        if (failures >= 0) throw Object.assign(new Error("lost"), { code: "CONNECTION_CLOSED" });
        return await store.now();
      },
    });
    const told: unknown[] = [];
    const dependencies = {
      ...skippingTime(),
      wrapStore,
      runId: "3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",
      onDatabaseWait: (wait: DatabaseWait) => void told.push(wait),
      onBegin: () => void told.push("begun"),
    };
    expect(await weekly.run({}, dependencies)).toMatchObject({ status: "success" });
    expect(told).toEqual([
      {
        version: "0.0.0-test",
        runId: dependencies.runId,
        code: "DATABASE_LOST",
        limitMs: expect.any(Number),
      },
      "begun",
    ]);
    const [{ limitMs }] = told as [DatabaseWait];
    // Five minutes, but for the second and a half that were nothing to speak of.
    expect(limitMs).toBeGreaterThan(290_000);
    expect(limitMs).toBeLessThanOrEqual(298_500);
  });

  test("before the first question: an error, since not even a summary's window is known", async () => {
    const weekly = await oneOwner();
    proxy.close();
    await expect(weekly.run({}, { databaseUrl })).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
  });
});
