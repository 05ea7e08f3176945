import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import type { WeekState } from "../../../lib/ledger/week-state.ts";
import { NO_TERMINAL } from "../../../lib/text/terminal/screen.ts";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import { renderSummary } from "../../../lib/weekly/texts/summary-text.ts";
import { before } from "../../standins/statement-proxy.ts";
import { type SeededOwner, seedOwner, setClock, WEEK } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { READ_WEEK } from "../support/steps.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();

const CLEAN = { sent: 0, partial: 0, failed: 0, unknown: 0, running: 0, missing: 0 };

/** Forgets the calls so far: from here on every call is one of the next runs. */
function forgetCalls({ application, gateway, email }: WeeklyFixture): void {
  for (const peer of [application, gateway, email]) peer.ledger.length = 0;
}

function callsOf({ application, gateway, email }: WeeklyFixture): number {
  return application.ledger.length + gateway.ledger.length + email.ledger.length;
}

/** Turns an owner's deliveries into what another process leaves, alive or dead. */
async function turn(
  { db }: WeeklyFixture,
  owner: SeededOwner,
  set: string,
  channels = ["whatsapp", "email"],
): Promise<void> {
  await db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (const channel of channels)
      await tx.unsafe(`
        update weekly_performance_deliveries set ${set} where user_id = '${owner.userId}' and channel = '${channel}'`);
  });
}

const DISPATCHED = "status = 'running', provider_message_id = null, settled_at = null, error_code = null";
const CLAIMED = `${DISPATCHED}, dispatched_at = null, sender_tenant_id = null, masked_hint = null`;
const lease = (minutes: number) =>
  `lease_expires_at = weekly_performance_now() + interval '${minutes} minutes'`;
const unknownResult = "status = 'unknown', provider_message_id = null, error_code = 'gateway_timeout'";
const refused = "status = 'failed', provider_message_id = null, error_code = 'gateway_400'";

async function suspend({ db }: WeeklyFixture, owner: SeededOwner): Promise<void> {
  await db.sql`update credit_wallets set status = 'suspended' where tenant_id = ${owner.tenantId}`;
}

type Ledger = (weekly: WeeklyFixture, owner: SeededOwner) => Promise<unknown>;

/** States that no run can repair by itself: each further run of the Monday says the same, and calls no peer. */
const LASTING: [string, Ledger, codes: string[], Partial<WeekState>][] = [
  [
    "a report that another process makes",
    async ({ db }, owner) => {
      await db.sql`
        insert into weekly_performance_reports
          (id, tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at)
        values (${randomUUID()}, ${owner.tenantId}, ${owner.userId}, ${WEEK.start}, ${WEEK.end}, 1, 'running',
                gen_random_uuid(), weekly_performance_now() + interval '20 minutes')`;
    },
    ["report_busy"],
    { reports: { completed: 1, running: 1, failed: 0, missing: 0 } },
  ],
  [
    "deliveries that another process makes",
    (weekly, owner) => turn(weekly, owner, `${CLAIMED}, ${lease(5)}`),
    ["delivery_busy", "delivery_busy"],
    { whatsapp: { ...CLEAN, sent: 1, running: 1 }, email: { ...CLEAN, sent: 1, running: 1 } },
  ],
  [
    "deliveries that another process is sending",
    (weekly, owner) => turn(weekly, owner, `${DISPATCHED}, ${lease(5)}`),
    ["delivery_busy", "delivery_busy"],
    { whatsapp: { ...CLEAN, sent: 1, running: 1 } },
  ],
  [
    "deliveries of a process that died while sending",
    (weekly, owner) => turn(weekly, owner, `${DISPATCHED}, ${lease(0)}`),
    ["delivery_unknown", "delivery_unknown"],
    { whatsapp: { ...CLEAN, sent: 1, unknown: 1 }, email: { ...CLEAN, sent: 1, unknown: 1 } },
  ],
  [
    "deliveries with an unknown result",
    (weekly, owner) => turn(weekly, owner, unknownResult),
    ["delivery_unknown", "delivery_unknown"],
    { whatsapp: { ...CLEAN, sent: 1, unknown: 1 } },
  ],
  [
    "deliveries with an unknown result of an owner who gets no reports any more",
    async (weekly, owner) => {
      await turn(weekly, owner, unknownResult);
      await suspend(weekly, owner);
    },
    ["WEEK_OPEN"],
    { owners: 1, whatsapp: { ...CLEAN, sent: 1, unknown: 1 } },
  ],
  [
    "a process that died while sending to an owner who gets no reports any more",
    async (weekly, owner) => {
      await turn(weekly, owner, `${DISPATCHED}, ${lease(-60)}`);
      await suspend(weekly, owner);
    },
    ["WEEK_OPEN"],
    { whatsapp: { ...CLEAN, sent: 1, unknown: 1 } },
  ],
  [
    "a message without its timeline entry, while the timeline takes none",
    async (weekly, owner) => {
      await turn(weekly, owner, "error_code = 'timeline_entry_failed'", ["whatsapp"]);
      await weekly.db.sql.unsafe(
        "alter table timeline_entries add constraint broken check (false) not valid",
      );
    },
    ["timeline_entry_failed"],
    { whatsapp: { ...CLEAN, sent: 1, partial: 1 } },
  ],
  [
    "a network of each of three owners failed, which is more than a tenth",
    async (weekly) => {
      for (let i = 0; i < 2; i += 1) await seedOwner(weekly.db.sql);
      await sourcesFailed(weekly, 1);
    },
    ["SOCIAL_DEGRADED"],
    { social: { connected: 8, failed: 4, owners: 4 } },
  ],
  [
    "every network failed",
    (weekly) => sourcesFailed(weekly, 2),
    ["SOCIAL_ALL_CALLS_FAILED"],
    { social: { connected: 4, failed: 4, owners: 2 } },
  ],
];

/** Makes the reports with this many failed networks each. */
async function sourcesFailed(weekly: WeeklyFixture, failed: number): Promise<void> {
  await weekly.run();
  await weekly.db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    for (let i = 0; i < failed; i += 1)
      await tx.unsafe(`
        update weekly_performance_reports as r set payload = jsonb_set(payload, array['provenance', 'sources', n.i, 'status'], '"failed"')
        from (select r.id, (min(s.n) - 1)::text as i
              from weekly_performance_reports as r,
                jsonb_array_elements(r.payload -> 'provenance' -> 'sources') with ordinality as s (value, n)
              where s.value ? 'connectionId' and s.value ->> 'status' <> 'failed' group by r.id) as n
        where n.id = r.id`);
  });
}

describe("the verdict over a week that no run can repair", () => {
  test.each(LASTING)("%s: exit 1 from every run, and nobody is called", async (name, build, codes, week) => {
    const weekly = shared();
    const isReport = name.startsWith("a report");
    await seedOwner(weekly.db.sql);
    const owner = isReport ? undefined : await seedOwner(weekly.db.sql);
    await weekly.run();
    await build(weekly, owner ?? (await seedOwner(weekly.db.sql)));
    plantHeartbeat(weekly);
    forgetCalls(weekly);
    try {
      for (let run = 0; run < 3; run += 1) {
        const summary = await weekly.run();
        expect(summary).toMatchObject({
          status: "failed",
          exitCode: 1,
          heartbeat: "kept",
          error: null,
          week,
        });
        expect(summary.failures.map(({ code }) => code)).toEqual(codes);
        expect(callsOf(weekly)).toBe(0);
      }
    } finally {
      await weekly.db.sql.unsafe("alter table timeline_entries drop constraint if exists broken");
    }
    expect(isHeartbeatKept(weekly)).toBe(true);
  });
});

/** States that the next run repairs, or that cannot be repaired and make no run fail. */
const PASSING: [string, Ledger, Partial<WeekState>][] = [
  ["a week that is done", async () => {}, { owners: 2 }],
  [
    "a report of a process that died",
    async ({ db }, owner) => {
      await db.sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`delete from weekly_performance_deliveries where user_id = ${owner.userId}`;
        await tx`
          update weekly_performance_reports
          set status = 'running', payload = null, evidence = null, fingerprint = null, coverage_status = null,
              completed_at = null, claim_token = gen_random_uuid(), lease_expires_at = weekly_performance_now()
          where user_id = ${owner.userId}`;
      });
    },
    { reports: { completed: 2, running: 0, failed: 0, missing: 0 } },
  ],
  [
    "deliveries of a process that died before it sent",
    (weekly, owner) => turn(weekly, owner, `${CLAIMED}, ${lease(0)}`),
    { whatsapp: { ...CLEAN, sent: 2 } },
  ],
  [
    "deliveries that failed",
    (weekly, owner) => turn(weekly, owner, refused),
    { whatsapp: { ...CLEAN, sent: 2 }, email: { ...CLEAN, sent: 2 } },
  ],
  [
    "an owner who joined since",
    ({ db }) => seedOwner(db.sql),
    { owners: 3, reports: { completed: 3, running: 0, failed: 0, missing: 0 } },
  ],
  [
    "a message without its timeline entry, now that the timeline takes it",
    async (weekly, owner) => {
      await turn(weekly, owner, "error_code = 'timeline_entry_failed'", ["whatsapp"]);
      await weekly.db.sql`delete from timeline_entries where user_id = ${owner.userId}`;
    },
    { whatsapp: { ...CLEAN, sent: 2 } },
  ],
  [
    "what failed for an owner who gets no reports any more",
    async (weekly, owner) => {
      await turn(weekly, owner, refused);
      await suspend(weekly, owner);
    },
    { owners: 1, noLongerEligible: { reports: 0, whatsapp: 1, email: 1 } },
  ],
  [
    "a network of each of two owners failed",
    (weekly) => sourcesFailed(weekly, 1),
    { social: { connected: 4, failed: 2, owners: 2 } },
  ],
];

describe("the verdict over a week that a run can repair, or that nobody can", () => {
  test.each(PASSING)("%s: exit 0 from the next run and from the one after it", async (_name, build, week) => {
    const weekly = shared();
    const [, owner] = [await seedOwner(weekly.db.sql), await seedOwner(weekly.db.sql)];
    await weekly.run();
    await build(weekly, owner);
    for (let run = 0; run < 2; run += 1) {
      const summary = await weekly.run();
      expect(summary).toMatchObject({
        status: "success",
        exitCode: 0,
        heartbeat: "written",
        failures: [],
        week,
      });
    }
    const entries = await weekly.db.sql`
      select count(*)::int as count from timeline_entries group by metadata ->> 'providerMessageId'`;
    expect(entries.every(({ count }) => count === 1)).toBe(true);
    forgetCalls(weekly);
    await weekly.run();
    expect(callsOf(weekly)).toBe(0);
  });
});

describe("a run that leaves something out", () => {
  test("is judged by its own steps, and shows the week all the same", async () => {
    const weekly = shared();
    const [whole, open] = [await seedOwner(weekly.db.sql), await seedOwner(weekly.db.sql)];
    await weekly.run();
    await turn(weekly, open, unknownResult);
    plantHeartbeat(weekly);
    const one = await weekly.run({ tenantId: whole.tenantId });
    expect(one).toMatchObject({
      exitCode: 0,
      heartbeat: "kept",
      week: { whatsapp: { sent: 1, unknown: 1 } },
    });
    expect(renderSummary(one, NO_TERMINAL)).toContain("Week open  WhatsApp 1 unknown; e-mail 1 unknown\n");
    expect(await weekly.run({ tenantId: open.tenantId })).toMatchObject({ exitCode: 1 });
    expect(await weekly.run({ skipWhatsapp: true, skipEmail: true })).toMatchObject({
      exitCode: 0,
      heartbeat: "kept",
    });
    expect(await weekly.run({ skipWhatsapp: true })).toMatchObject({ exitCode: 1, email: { unknown: 1 } });
    expect(await weekly.run({ skipEditorials: true })).toMatchObject({ exitCode: 1 });
    expect(isHeartbeatKept(weekly)).toBe(true);
  });

  test("succeeds with channels missing in the week, which a whole run then makes", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    expect(await weekly.run({ skipWhatsapp: true })).toMatchObject({
      exitCode: 0,
      week: { whatsapp: { missing: 1 }, email: { sent: 1 } },
    });
    expect(await weekly.run()).toMatchObject({ exitCode: 0, heartbeat: "written", whatsapp: { sent: 1 } });
  });

  test("fails when all of its own analysis calls do", async () => {
    const weekly = shared();
    const owner = await seedOwner(weekly.db.sql);
    for (let i = 0; i < 3; i += 1) await seedOwner(weekly.db.sql);
    weekly.application.routes.analysis.script = () => ({ status: 403 });
    const summary = await weekly.run({ tenantId: owner.tenantId });
    expect(summary).toMatchObject({ exitCode: 1 });
    expect(summary.failures.map(({ code }) => code)).toContain("SOCIAL_ALL_CALLS_FAILED");
    weekly.application.routes.analysis.script = null;
    // In the whole week, this is the failure of one owner among several.
    expect(await weekly.run()).toMatchObject({
      exitCode: 0,
      week: { social: { connected: 8, failed: 2, owners: 1 } },
    });
  });
});

describe("a week whose state the database does not return", () => {
  test("fails a whole run, which says so", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    plantHeartbeat(weekly);
    const { sql } = weekly.db;
    const unreadable = async (options: Partial<WeeklyOptions>) => {
      const rename = async () => {
        const [row] = await sql`
          select oid::regprocedure::text as name from pg_proc
          where pronamespace = 'public'::regnamespace and proname = 'weekly_performance_week'`;
        await sql.unsafe(`alter function ${row!.name} rename to read_no_more`);
      };
      try {
        return await weekly.run(options, { at: [before(READ_WEEK, rename)] });
      } finally {
        await sql.unsafe("alter function read_no_more rename to weekly_performance_week");
      }
    };
    const summary = await unreadable({});
    expect(summary).toMatchObject({ exitCode: 1, heartbeat: "kept", week: null, error: null });
    expect(summary.failures).toEqual([{ step: "week", code: "WEEK_UNREADABLE" }]);
    expect(await unreadable({ skipEditorials: true })).toMatchObject({ exitCode: 0, failures: [] });
    expect(await weekly.run()).toMatchObject({ exitCode: 0, heartbeat: "written" });
  });
});

test("the week still shows what is unknown on the day after, although no run may write any more", async () => {
  const weekly = shared();
  const owner = await seedOwner(weekly.db.sql);
  await weekly.run();
  await turn(weekly, owner, `${DISPATCHED}, ${lease(5)}`);
  await setClock(weekly.db.sql, "2026-11-24T11:00:00Z");
  expect(await weekly.run()).toMatchObject({ status: "refused", exitCode: 4, week: null });
  expect(await deliveryStates(weekly)).toEqual(["email running x1", "whatsapp running x1"]);
});
