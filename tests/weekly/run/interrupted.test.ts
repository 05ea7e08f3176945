import { describe, expect, test } from "bun:test";
import { rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";
import type { WeeklySummary } from "../../../lib/weekly/context/summary.ts";
import { after, before } from "../../standins/statement-proxy.ts";
import { seedOwners, WEEK } from "../../support/seed.ts";
import { until } from "../../support/until.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { CLAIM_REPORT, SETTLE } from "../support/steps.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const shared = sharedWeekly();

async function monday(owners = 3): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwners(weekly.db.sql, owners);
  plantHeartbeat(weekly);
  return weekly;
}

/** A sleep in which the grace of eighteen seconds is over at once and every other wait lasts for ever. */
const noGrace = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    if (ms === 18_000) return resolve();
    signal?.addEventListener("abort", () => reject(signal.reason));
  });

function expectEnded(weekly: WeeklyFixture, summary: WeeklySummary): void {
  expect(summary).toMatchObject({
    status: "failed",
    exitCode: 1,
    heartbeat: "kept",
    error: { code: "RUN_INTERRUPTED" },
  });
  expect(isHeartbeatKept(weekly)).toBe(true);
}

async function expectNextRunFinishes(weekly: WeeklyFixture, owners: number): Promise<void> {
  expect(await weekly.run()).toMatchObject({ status: "success", heartbeat: "written" });
  expect(weekly.gateway.accepted).toHaveLength(owners);
  expect(weekly.email.accepted).toHaveLength(owners);
}

describe("runWeekly() that is asked to end", () => {
  test("a signal before the run begins: nothing is claimed", async () => {
    const weekly = await monday();
    expectEnded(weekly, await weekly.run({}, { interrupt: AbortSignal.abort() }));
    expect((await reportsByOwner(weekly)).size).toBe(0);
    await expectNextRunFinishes(weekly, 3);
  });

  test("a signal during an analysis: that call ends, no other begins, the report is failed and resumed by the next run", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      signal.abort();
      await analyse(body);
    };
    const summary = await weekly.run({ concurrency: 1 }, { interrupt: signal.signal });
    expectEnded(weekly, summary);
    expect(weekly.application.routes.analysis.calls).toHaveLength(1);
    expect(summary).toMatchObject({ social: { calls: 1, failed: 0 }, reports: { failed: 1, completed: 0 } });
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([
      { status: "failed", errorCode: "RUN_INTERRUPTED", stored: false },
    ]);
    weekly.onAnalyze = analyse;
    await expectNextRunFinishes(weekly, 3);
  });

  test("a signal while another process has claimed a report: it is not looked at again, and counted", async () => {
    const weekly = await monday(1);
    const { sql } = weekly.db;
    await sql`
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at)
      select tenant_id, id, ${WEEK.start}, ${WEEK.end}, 1, 'running', gen_random_uuid(),
             weekly_performance_now() + interval '20 minutes' from users where role = 'owner'`;
    const signal = new AbortController();
    let claims = 0;
    const claimed = after(
      CLAIM_REPORT,
      () => {
        claims += 1;
        signal.abort();
      },
      { nth: "every" },
    );
    const summary = await weekly.run({}, { interrupt: signal.signal, at: [claimed] });
    expectEnded(weekly, summary);
    expect(claims).toBe(1);
    expect(summary).toMatchObject({
      reports: { busy: 1 },
      failures: [{ step: "report", code: "report_busy" }],
    });
  });

  test("a signal while a claim is being made: its first analysis call does not begin", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    const at = [after(CLAIM_REPORT, () => signal.abort())];
    const summary = await weekly.run({ concurrency: 1 }, { interrupt: signal.signal, at });
    expectEnded(weekly, summary);
    expect(weekly.application.ledger).toHaveLength(0);
    await expectNextRunFinishes(weekly, 3);
  });

  test("a signal during an analysis that never ends: the call is aborted after the grace", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    weekly.application.routes.analysis.script = () => {
      signal.abort();
      return "hang";
    };
    const summary = await weekly.run({ concurrency: 1 }, { interrupt: signal.signal, sleep: noGrace });
    expectEnded(weekly, summary);
    expect(summary.failures.map(({ code }) => code)).toEqual(["RUN_INTERRUPTED"]);
    weekly.application.routes.analysis.script = null;
    await expectNextRunFinishes(weekly, 3);
  });

  test("a signal during a send: it is finished and recorded, and no other begins", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    weekly.gateway.routes.send.script = () => {
      signal.abort();
      return undefined;
    };
    const summary = await weekly.run({ concurrency: 1 }, { interrupt: signal.signal });
    expectEnded(weekly, summary);
    expect(await deliveryStates(weekly)).toEqual(["whatsapp sent x1"]);
    expect(summary).toMatchObject({ whatsapp: { sent: 1 }, email: { skipped: 1 } });
    await expectNextRunFinishes(weekly, 3);
  });

  test("a signal during a send that never ends: unknown after the grace, and never sent again", async () => {
    const weekly = await monday(1);
    const signal = new AbortController();
    weekly.email.routes.send.script = () => {
      signal.abort();
      return { accept: "hang" };
    };
    expectEnded(weekly, await weekly.run({}, { interrupt: signal.signal, sleep: noGrace }));
    expect(await deliveryStates(weekly)).toEqual(["email unknown email_aborted x1", "whatsapp sent x1"]);
    weekly.email.routes.send.script = null;
    expect(await weekly.run()).toMatchObject({ exitCode: 1, email: { unknown: 1, sent: 0 } });
    expect(weekly.email.routes.send.calls).toHaveLength(1);
  });

  test("a signal while messages wait for their turn: none of them is claimed", async () => {
    const weekly = await monday();
    const signal = new AbortController();
    const once = rateLimiter({ perSecond: 0.0001 });
    const completed = async () =>
      [...(await reportsByOwner(weekly)).values()].filter(({ status }) => status === "completed");
    const allComplete = before(SETTLE, async () => {
      await until("three completed reports", async () => (await completed()).length === 3);
      signal.abort();
    });
    const interrupt = signal.signal;
    const summary = await weekly.run({}, { interrupt, whatsappRate: once, at: [allComplete] });
    expectEnded(weekly, summary);
    const claimed = await weekly.db
      .sql`select count(*)::int as n from weekly_performance_deliveries where channel = 'whatsapp'`;
    expect(claimed[0]!.n).toBe(1);
    expect(summary.whatsapp).toMatchObject({ sent: 1, skipped: 2 });
    await expectNextRunFinishes(weekly, 3);
  });

  test("a signal while a throttled send waits: it is failed, not repeated, and sent by the next run", async () => {
    const weekly = await monday(1);
    const signal = new AbortController();
    weekly.gateway.routes.send.script = () => ({ status: 429, headers: { "retry-after": "60" } });
    const summary = await weekly.run(
      {},
      {
        interrupt: signal.signal,
        sleep: async (ms) => {
          if (ms === 60_000) signal.abort();
          else await new Promise(() => {});
        },
      },
    );
    expectEnded(weekly, summary);
    expect(weekly.gateway.routes.send.calls).toHaveLength(1);
    expect(await deliveryStates(weekly)).toEqual(["whatsapp failed RUN_INTERRUPTED x1"]);
    weekly.gateway.routes.send.script = null;
    await expectNextRunFinishes(weekly, 1);
  });

  test("a signal before the drain: it is left out", async () => {
    const weekly = await monday(1);
    const signal = new AbortController();
    weekly.email.routes.send.script = () => {
      signal.abort();
      return undefined;
    };
    const summary = await weekly.run({ editorials: EDITORIALS }, { interrupt: signal.signal });
    expectEnded(weekly, summary);
    expect(summary.editorials).toMatchObject({ status: "skipped", code: "RUN_INTERRUPTED" });
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
  });

  test("a signal during the drain: the call ends, no other begins", async () => {
    const weekly = await monday(1);
    const signal = new AbortController();
    weekly.application.editorials.push({ truncated: true, nextCursor: "c1", llmCalls: 0, failures: [] });
    weekly.application.routes.editorial.script = () => {
      signal.abort();
      return undefined;
    };
    const summary = await weekly.run({ editorials: EDITORIALS }, { interrupt: signal.signal });
    expectEnded(weekly, summary);
    expect(summary.editorials).toMatchObject({ status: "failed", code: "RUN_INTERRUPTED", calls: 1 });
    expect(weekly.application.routes.editorial.calls).toHaveLength(1);
  });

  test("a signal with eight owners in flight: each call in flight is finished, and no other begins", async () => {
    const weekly = await monday(20);
    const signal = new AbortController();
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      const calls = weekly.application.routes.analysis.calls;
      await until("eight calls", () => calls.length === 8);
      signal.abort();
      await analyse(body);
    };
    expectEnded(weekly, await weekly.run({ concurrency: 8 }, { interrupt: signal.signal }));
    expect(weekly.application.routes.analysis.calls).toHaveLength(8);
    const reports = [...(await reportsByOwner(weekly)).values()];
    expect(reports.map(({ status }) => status)).toEqual(Array(8).fill("failed"));
    weekly.onAnalyze = analyse;
    await expectNextRunFinishes(weekly, 20);
  });
});
