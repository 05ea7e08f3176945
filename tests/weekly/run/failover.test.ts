import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { before, type Which } from "../../standins/statement-proxy.ts";
import { startTcpProxy, type TcpProxy } from "../../standins/tcp-proxy.ts";
import { connect, type PostgresServer, startPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { seedOwner } from "../../support/seed.ts";
import { type Fault, faultsOf, setReadOnly } from "../support/faults.ts";
import { deliveryStates } from "../support/ledger.ts";
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
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

let server: PostgresServer;
let weekly: WeeklyFixture;
let proxy: TcpProxy;
let login: string;
let databaseUrl: string;

beforeAll(async () => {
  server = await startPostgres({ inMemory: true });
  // The application and the test write at any time.
  const admin = connect(server.url("postgres"));
  await admin`alter role postgres set default_transaction_read_only = off`;
  await admin.end();
  weekly = await weeklyFixture({ server });
  proxy = await startTcpProxy(server.port);
  login = await newLogin(weekly.db.sql, "grant service_role to");
  databaseUrl = server.url(weekly.db.name, login).replace(`:${server.port}/`, `:${proxy.port}/`);
});
afterEach(async () => {
  const { sql } = weekly.db;
  await sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const table of ["weekly_performance_deliveries", "weekly_performance_reports", "timeline_entries"])
      await tx.unsafe(`delete from ${table}`);
    await tx`delete from tenants where id in (select tenant_id from users where role = 'owner')`;
    await tx`delete from users where role = 'owner'`;
  });
  weekly.gateway.accepted.length = 0;
  weekly.email.accepted.length = 0;
  weekly.onEditorial = () => {};
});
afterAll(async () => {
  await proxy.stop();
  await weekly[Symbol.asyncDispose]();
  await server.stop();
});

const FAULTS = faultsOf(() => ({ server, sql: weekly.db.sql, login, proxy }));
type FaultName = keyof typeof FAULTS;
const FAULT_NAMES = Object.keys(FAULTS) as FaultName[];

/** A clock, and a fault that begins when it is told to and ends once so much of that time has passed. */
function faultFor(fault: Fault, durationMs: number) {
  const time = virtualTime();
  let endsAtMs: number | null = null;
  let isOver = false;
  const end = async () => {
    if (endsAtMs === null || isOver) return;
    isOver = true;
    await fault.end();
  };
  return {
    async begin() {
      if (endsAtMs !== null) return;
      endsAtMs = time.monotonicMs() + durationMs;
      await fault.begin();
    },
    end,
    time: {
      monotonicMs: time.monotonicMs,
      async sleep(ms: number, signal?: AbortSignal) {
        await time.sleep(ms, signal);
        if (endsAtMs !== null && time.monotonicMs() >= endsAtMs) await end();
      },
    },
  };
}

/** As many as the fixture's pool has. */
const CONNECTIONS = 10;

type Step = [text: string, which?: Which];

/** One of each kind: the first write, the report itself, the last moment before a send, the first after it. */
const KINDS: Step[] = [[CLAIM_REPORT], [STORE_REPORT], [DISPATCH], [SETTLE]];
const OTHERS: Step[] = [
  [LIST_OWNERS],
  [LIST_OWNERS, { nth: 2 }],
  [READ_EVIDENCE],
  [CLAIM_DELIVERY],
  [CLAIM_DELIVERY, { nth: 2 }],
];
/** Those that begin at a step that writes much and at the one after a send alone. */
const AT_FEW_STEPS: FaultName[] = ["restarted", "crashed", "out of connections"];
const FEW: Step[] = [[STORE_REPORT], [SETTLE]];

/** `make chaos` asks for lengths of its own, for every fault at every step. */
const asked = process.env.FAILOVER_SECONDS?.split(",").map(Number);

/** Which steps a fault is tried at. A step waits by what has failed, whatever step it is. */
function stepsOf(name: FaultName): Step[] {
  if (asked !== undefined || name === "refused") return [...KINDS, ...OTHERS];
  return AT_FEW_STEPS.includes(name) ? FEW : KINDS;
}

const secondsOf = (name: FaultName, [step]: Step) =>
  asked ?? (name === "read-only" && step === CLAIM_REPORT ? [2, 90] : [90]);

const CASES = FAULT_NAMES.flatMap((name) =>
  stepsOf(name).flatMap((step) =>
    secondsOf(name, step).map((seconds) => [name, step[0], step[1] ?? {}, seconds] as const),
  ),
);

describe("runWeekly() on a database that is unavailable for a while costs time, and no report", () => {
  test.each(CASES)("%s, from %s %j on, for %d s", async (name, step, which, seconds) => {
    await seedOwner(weekly.db.sql);
    await seedOwner(weekly.db.sql);
    const fault = faultFor(FAULTS[name], seconds * 1000);
    try {
      const at = [before(step, fault.begin, which)];
      const summary = await weekly.run({ concurrency: 1 }, { databaseUrl, ...fault.time, at });
      expect(summary).toMatchObject({ status: "success", heartbeat: "written", failures: [] });
    } finally {
      await fault.end();
    }
    expect(await deliveryStates(weekly)).toEqual(["email sent x2", "whatsapp sent x2"]);
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([2, 2]);
    const attempts = await weekly.db.sql`
      select attempts from weekly_performance_reports union select attempts from weekly_performance_deliveries`;
    expect(attempts.map((row) => row.attempts)).toEqual([1]);
  });

  test.each(FAULT_NAMES)("%s, at the verdict", async (name) => {
    await seedOwner(weekly.db.sql, { networks: [] });
    const fault = faultFor(FAULTS[name], 240_000);
    try {
      // The clock is read at the start, with the evidence and at the end.
      const at = [before(READ_CLOCK, fault.begin, { nth: 3 })];
      const summary = await weekly.run({}, { databaseUrl, ...fault.time, at });
      expect(summary).toMatchObject({
        status: "success",
        heartbeat: "written",
        finishedAt: expect.any(String),
      });
    } finally {
      await fault.end();
    }
  });

  test("read-only for a second among 40 owners: nobody fails, and nothing is sent twice", async () => {
    for (let i = 0; i < 40; i += 1) await seedOwner(weekly.db.sql, { sends: [] });
    let isReadOnly: Promise<void> | undefined;
    const goReadOnly = () => {
      isReadOnly = setReadOnly({ server, sql: weekly.db.sql, login }, true).then(async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await setReadOnly({ server, sql: weekly.db.sql, login }, false);
      });
    };
    const at = [before(CLAIM_DELIVERY, goReadOnly, { nth: 20 })];
    const summary = await weekly.run({ concurrency: 8 }, { databaseUrl, at });
    await isReadOnly;
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: 40, failed: 0 },
      failures: [],
    });
    expect(await deliveryStates(weekly)).toEqual(["email sent x40", "whatsapp sent x40"]);
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([40, 40]);
  });
});

describe("runWeekly() on a database that is unavailable for longer", () => {
  test("a database unavailable for longer than a report waits: that report fails, the others are made", async () => {
    for (let i = 0; i < 3; i += 1) await seedOwner(weekly.db.sql);
    const fault = faultFor(FAULTS["read-only"], 150_000);
    const at = [before(CLAIM_REPORT, fault.begin)];
    const summary = await weekly.run({ concurrency: 1 }, { databaseUrl, ...fault.time, at });
    expect(summary).toMatchObject({
      status: "failed",
      error: null,
      reports: { completed: 2, failed: 1 },
      failures: [{ step: "report", code: "report_claim_failed" }],
    });
    expect(await weekly.run({}, { databaseUrl })).toMatchObject({
      status: "success",
      reports: { completed: 1 },
    });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([3, 3]);
  });

  test.each([
    ["read-only", "Stopped the run: the database takes no writes any more"],
    ["refused", "Stopped the run: the database does not answer any more"],
  ] as const)(
    "a database %s for longer than the run waits: DATABASE_LOST after five minutes",
    async (name, message) => {
      for (let i = 0; i < 8; i += 1) await seedOwner(weekly.db.sql);
      const fault = faultFor(FAULTS[name], 3_600_000);
      const startedMs = fault.time.monotonicMs();
      try {
        const at = [before(CLAIM_REPORT, fault.begin, { nth: 4 })];
        const summary = await weekly.run({ concurrency: 1 }, { databaseUrl, ...fault.time, at });
        expect(summary).toMatchObject({
          status: "failed",
          exitCode: 1,
          heartbeat: "kept",
          error: { code: "DATABASE_LOST", message },
          reports: { completed: 3, failed: 1 },
        });
        const minutes = (fault.time.monotonicMs() - startedMs) / 60_000;
        expect(minutes).toBeGreaterThanOrEqual(5);
        expect(minutes).toBeLessThan(name === "refused" ? 11 : 6);
      } finally {
        await fault.end();
      }
      expect(await weekly.run({}, { databaseUrl })).toMatchObject({
        status: "success",
        reports: { completed: 5 },
      });
      expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([8, 8]);
    },
  );
});

describe("runWeekly() whose open connections lead to a server that is gone", () => {
  test("goes on with new ones after one silent statement, also when all of them are in use", async () => {
    for (let i = 0; i < 12; i += 1) await seedOwner(weekly.db.sql);
    const allInUse = Promise.withResolvers<void>();
    let persisting = 0;
    const waitForAll = before(
      STORE_REPORT,
      async () => {
        persisting += 1;
        if (persisting === CONNECTIONS) {
          proxy.silence();
          allInUse.resolve();
        }
        await allInUse.promise;
      },
      { nth: "every" },
    );
    const summary = await weekly.run(
      { concurrency: CONNECTIONS },
      { databaseUrl, statementLimitMs: 500, at: [waitForAll] },
    );
    expect(summary).toMatchObject({ status: "success", reports: { completed: 12 }, failures: [] });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([12, 12]);
  });
});

describe("the editorial drain on a database that is unavailable for a while", () => {
  const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
  const answer = (truncated: boolean) => ({
    truncated,
    nextCursor: truncated ? "c1" : null,
    llmCalls: 3,
    failures: [],
  });

  test.each(FAULT_NAMES)(
    "%s, during a call: it takes the lock again and goes on where it was",
    async (name) => {
      const { routes, editorials } = weekly.application;
      editorials.push(answer(true), answer(false));
      routes.editorial.calls.length = 0;
      const fault = faultFor(FAULTS[name], 90_000);
      weekly.onEditorial = fault.begin;
      try {
        const summary = await weekly.run({ editorials: EDITORIALS }, { databaseUrl, ...fault.time });
        expect(summary).toMatchObject({
          status: "success",
          editorials: { status: "completed", calls: 2, llmCalls: 6 },
        });
        expect(routes.editorial.calls).toHaveLength(2);
      } finally {
        await fault.end();
      }
    },
  );
});
