/**
 * `opsctl status`, `opsctl reports status`, `opsctl doctor weekly`, the end of `opsctl weekly` and the rules on a Monday
 * say the same and name the same next command, at each time and in each state of the ledger.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Finding, NEXT_MONDAY } from "../../lib/doctor/finding.ts";
import { HEARTBEAT_FILE } from "../../lib/host/heartbeat-file-name.ts";
import { refreshLastRun } from "../../lib/last-run/refresh.ts";
import { readWeekState } from "../../lib/ledger/week-state.ts";
import { emptySummary, type WeeklySummary } from "../../lib/weekly/context/summary.ts";
import { renderSummary } from "../../lib/weekly/texts/summary-text.ts";
import { endedProcess } from "../status/support/run.ts";
import { type OwnerSpec, type SeededOwner, seedOwner } from "../support/seed.ts";
import { until } from "../weekly/support/ledger.ts";
import { openWindows, type View, type Windows } from "./support/windows.ts";

const MONDAY = "2026-11-23";
const at = (date: string, time: string) => new Date(`${date}T${time}:00-03:00`).toISOString();
const RUN_AT = at(MONDAY, "08:00");
const BEFORE = [at("2026-11-22", "23:59"), at(MONDAY, "00:00"), at(MONDAY, "07:59")];
const DURING = [at(MONDAY, "08:14"), at(MONDAY, "08:15")];
const AFTER = [...DURING, at(MONDAY, "20:00"), at(MONDAY, "23:59"), at("2026-11-24", "00:00")];
const WEEK_LATER = [
  ...[at("2026-11-29", "23:59"), at("2026-11-30", "00:00"), at("2026-11-30", "08:14")],
  ...[at("2026-11-30", "08:15"), at("2026-11-30", "20:00"), at("2026-12-01", "00:00")],
];

let windows: Windows;
beforeAll(async () => {
  windows = await openWindows();
});
afterAll(async () => await windows[Symbol.asyncDispose]());

const owner = (spec: OwnerSpec = {}) => seedOwner(windows.weekly.db.sql, spec);

/** Changes rows as no caller may. */
async function change(statement: string): Promise<void> {
  await windows.weekly.db.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`;
    await tx.unsafe(statement);
  });
}

/** An owner's own rows, each before what it refers to. */
const APPLICATION_TABLES = [
  ...["timeline_entries", "social_channel_analyses", "social_account_scores", "social_connections"],
  "resend_email_sends",
];

async function erase({ userId }: SeededOwner): Promise<void> {
  const { sql } = windows.weekly.db;
  for (const table of APPLICATION_TABLES)
    await sql.unsafe(`delete from ${table} where user_id = '${userId}'`);
  await sql`delete from users where id = ${userId}`;
}

/** A run after which one message is in doubt, and another owner has what `spec` says. */
async function runInDoubt(spec: OwnerSpec = {}): Promise<WeeklySummary> {
  await owner();
  await owner(spec);
  windows.weekly.gateway.routes.send.next("drop");
  return await windows.run({ concurrency: 1 });
}

/** A run that the application answers with this status, for these owners' first networks. */
async function runRefused(
  status: number,
  owners: SeededOwner[],
  run: () => Promise<WeeklySummary> = windows.run,
): Promise<WeeklySummary> {
  const { analysis } = windows.weekly.application.routes;
  const isTheirs = (body: string) => owners.some(({ connections }) => body.includes(connections[0]!.id));
  analysis.scriptByBody = ({ rawBody }) => (isTheirs(rawBody) ? { status, json: {} } : undefined);
  const summary = await run();
  analysis.scriptByBody = null;
  return summary;
}

/** The record of a run that was refused before it could begin. */
async function refused(code: string): Promise<void> {
  const facts = { version: "1", runId: "r", dryRun: false };
  await windows.record().end({ ...emptySummary(facts), error: { code, message: "" } });
}

async function runsNever(): Promise<void> {
  await owner();
}

/** A state of the ledger; with the summary of the run where nothing has changed since its end. */
type State = [name: string, make: () => Promise<unknown>, times?: string[]];

const STATES: State[] = [
  ["no run ever", () => runsNever(), [...BEFORE, ...AFTER]],
  [
    "a run that was refused",
    async () => {
      await owner();
      await refused("CONFIG_INVALID");
    },
  ],
  [
    "a run that was killed while it waited",
    async () => {
      await owner();
      windows.record(endedProcess()).wait({ version: "1", runId: "r", code: "57P03", limitMs: 300_000 });
    },
  ],
  [
    "a run that was killed",
    async () => {
      const { userId } = await owner();
      await windows.weekly.run({}, { onBegin: windows.record(endedProcess()).begin });
      await owner();
      await change(`update weekly_performance_deliveries set status = 'running', provider_message_id = null,
      settled_at = null, lease_expires_at = weekly_performance_now() + interval '5 minutes'
      where channel = 'whatsapp' and user_id = '${userId}'`);
    },
  ],
  [
    "a run that was killed a moment ago",
    async () => {
      await owner();
      await windows.weekly.run({}, { onBegin: windows.record(endedProcess()).begin });
      await change(`update weekly_performance_deliveries set status = 'running', provider_message_id = null,
        settled_at = null, dispatched_at = null, sender_tenant_id = null, masked_hint = null,
        lease_expires_at = weekly_performance_now() + interval '20 minutes' where channel = 'email'`);
    },
    DURING,
  ],
  [
    "a run that was killed after its last step",
    async () => {
      await owner();
      await windows.weekly.run({}, { onBegin: windows.record(endedProcess()).begin });
    },
    [...AFTER, ...WEEK_LATER],
  ],
  [
    "all sent",
    async () => {
      await owner();
      return await windows.run();
    },
    [...AFTER, ...WEEK_LATER],
  ],
  ["no owners", () => windows.run()],
  [
    "no owners any more, and no run",
    async () => {
      const { tenantId } = await owner();
      await windows.setTime(at("2026-11-16", "08:00"));
      await windows.run();
      await windows.weekly.db
        .sql`update credit_wallets set status = 'suspended' where tenant_id = ${tenantId}`;
    },
    [at(MONDAY, "08:14"), ...AFTER.slice(1)],
  ],
  [
    "no owners any more",
    async () => {
      const { tenantId } = await owner();
      await windows.setTime(at("2026-11-16", "08:00"));
      await windows.run();
      await windows.weekly.db
        .sql`update credit_wallets set status = 'suspended' where tenant_id = ${tenantId}`;
      await windows.setTime(RUN_AT);
      await windows.run();
    },
  ],
  [
    "one tenant by hand, before the run of another host",
    async () => {
      const { tenantId } = await owner();
      await owner();
      await windows.weekly.run({ tenantId });
    },
    [at(MONDAY, "00:00"), at(MONDAY, "07:59"), ...AFTER.slice(1)],
  ],
  [
    "the heartbeat was removed",
    async () => {
      await owner();
      await windows.run();
      rmSync(join(windows.weekly.logDir, HEARTBEAT_FILE));
    },
  ],
  [
    "a ledger that was restored",
    async () => {
      await owner();
      await windows.run();
      await change("delete from weekly_performance_deliveries");
      await change("delete from weekly_performance_reports");
      await windows.run({}, { sentBefore: windows.record().sentBefore });
    },
  ],
  [
    "a ledger of which a part was restored",
    async () => {
      const { userId } = await owner();
      await owner();
      await windows.run();
      await change(`delete from weekly_performance_deliveries where user_id = '${userId}'`);
      await change(`delete from weekly_performance_reports where user_id = '${userId}'`);
      await windows.run({}, { sentBefore: windows.record().sentBefore });
    },
  ],
  [
    "a ledger of which a part was restored, while another run works on the rest",
    async () => {
      const { userId } = await owner();
      const other = await owner();
      await windows.run();
      await change(`delete from weekly_performance_deliveries where user_id = '${userId}'`);
      await change(`delete from weekly_performance_reports where user_id = '${userId}'`);
      await windows.run({}, { sentBefore: windows.record().sentBefore });
      await change(`update weekly_performance_deliveries set status = 'running', provider_message_id = null,
        settled_at = null, dispatched_at = null, sender_tenant_id = null, masked_hint = null,
        lease_expires_at = weekly_performance_now() + interval '20 minutes'
        where channel = 'email' and user_id = '${other.userId}'`);
    },
    DURING,
  ],
  ["no owners and no run ever", () => Promise.resolve()],
  ["no owners, and no settings on a host that is new", () => refused("CONFIG_INVALID")],
  [
    "one in doubt, and the next run was refused",
    async () => {
      await owner();
      windows.weekly.gateway.routes.send.next("drop");
      await windows.run();
      await refused("DATABASE_UNREACHABLE");
    },
  ],
  [
    "all networks are missing, and the next run was refused",
    async () => {
      await runRefused(422, [await owner({ networks: ["instagram"] })]);
      await refused("CONFIG_INVALID");
    },
  ],
  [
    "no settings on a host that only looks, after a run of another host",
    async () => {
      await owner();
      await windows.weekly.run();
      await refused("CONFIG_INVALID");
    },
  ],
  [
    "one delivery failed",
    async () => {
      await owner();
      await owner({ phone: null });
      return await windows.run();
    },
  ],
  ["one in doubt", () => runInDoubt()],
  ["one in doubt, one failed", () => runInDoubt({ phone: null })],
  [
    "settled by a look-up",
    async () => {
      await runInDoubt();
      const { db, logDir } = windows.weekly;
      await db.sql`select reconcile_weekly_performance_delivery(p_delivery_id => d.id, p_status => 'sent',
      p_provider_message_id => 'x', p_reason => 'seen', p_actor => 'ana')
      from weekly_performance_deliveries as d where d.status = 'unknown'`;
      await refreshLastRun(logDir, (window) => readWeekState(db.sql, window));
    },
  ],
  [
    "a timeline entry is missing",
    async () => {
      await owner();
      await windows.run();
      await change(
        "update weekly_performance_deliveries set error_code = 'timeline_entry_failed' where channel = 'whatsapp'",
      );
    },
  ],
  [
    "one report failed",
    async () => {
      const { userId } = await owner();
      await owner();
      return await windows.run(
        {},
        {
          wrapStore: (store) => ({
            persistReport: async (...args) => {
              if (JSON.stringify(args).includes(userId)) throw new Error("refused");
              return await store.persistReport(...args);
            },
          }),
        },
      );
    },
  ],
  ["a network is missing", async () => runRefused(422, [await owner(), await owner()].slice(0, 1))],
  [
    "too many networks are missing",
    async () => runRefused(422, [await owner(), await owner(), await owner()]),
  ],
  [
    "too many networks are missing since a run of another host",
    async () => {
      const owners = [await owner(), await owner(), await owner()];
      await runRefused(422, owners, () => windows.weekly.run());
    },
  ],
  ["the application refuses", async () => runRefused(401, [await owner({ networks: ["instagram"] })])],
  [
    "editorials failed",
    async () => {
      await owner();
      return await windows.run({ editorials: { enabled: true, maxLlmCalls: 30, secretPresent: false } });
    },
  ],
  [
    "the heartbeat cannot be written",
    async () => {
      await owner();
      mkdirSync(join(windows.weekly.logDir, HEARTBEAT_FILE, "x"), { recursive: true });
      return await windows.run();
    },
  ],
  [
    "networks left out",
    async () => {
      await owner();
      await windows.run({ withoutSocial: true });
    },
  ],
  [
    "an owner came after the run",
    async () => {
      await owner();
      await windows.run();
      await owner();
    },
  ],
  [
    "the owner whose message failed was erased",
    async () => {
      await owner();
      const gone = await owner({ phone: null });
      await windows.run();
      await erase(gone);
    },
  ],
  [
    "the owner whose message failed gets no reports any more",
    async () => {
      await owner();
      const { tenantId } = await owner({ phone: null });
      await windows.run();
      await windows.weekly.db
        .sql`update credit_wallets set status = 'suspended' where tenant_id = ${tenantId}`;
    },
  ],
];

/** The commands that change something, among those that a text names. */
function stepsIn(text: string): string[] {
  const named = text.match(/opsctl (?:weekly(?! --)|deliveries (?:look-up --all|repair))/g) ?? [];
  return [...new Set(named)].sort();
}

/** What tells a person more, where another run would be refused or has nobody to report to. */
const EXPLAINED = /opsctl explain (?:LEDGER_WENT_BACK|OWNERS_DROPPED)/;

/** What doctor wants of a person today. */
function wishesOf({ doctor }: View): Finding[] {
  return doctor.filter(
    ({ check, status, mend, reason }) =>
      (check !== "last success" || reason.includes("is gone")) &&
      (status === "fail" || (status === "warn" && mend !== null && mend !== NEXT_MONDAY)),
  );
}

/** That all windows of a view say the same; the rules know the runs of other hosts from those, and not from here. */
function expectAgreement(view: View): void {
  const { status, reports, rules } = view;
  const wishes = wishesOf(view);
  const needsSomebody = status.status === "attention";
  expect({ needsSomebody: wishes.length > 0, wishes }).toEqual({ needsSomebody, wishes });

  const steps = stepsIn(reports.text);
  const byDoctor = stepsIn(wishes.map(({ mend }) => mend).join("\n"));
  const byStatus = stepsIn(status.next ?? "");
  expect(steps).toEqual(expect.arrayContaining([...byDoctor, ...byStatus]));
  // Where status or doctor do not name the step themselves, they lead to the window that does.
  if (steps.length > 0 && byStatus.length === 0)
    expect(status.next).toMatch(/^(?:sudo opsctl (?:reports status|doctor weekly)|opsctl explain \w+)$/);
  if (steps.length > 0 && byDoctor.length === 0)
    expect(wishes.map(({ mend }) => mend)).toContainEqual(
      expect.stringMatching(/^opsctl (?:reports status|explain \w+)$/),
    );
  if (!needsSomebody) expect(steps).toEqual([]);
  if (reports.exitCode === 0 && steps.length === 0 && !/no run has begun/.test(reports.text))
    expect(needsSomebody).toBe(EXPLAINED.test(reports.text));
  const explained = [reports.text, status.next ?? "", wishes.map(({ mend }) => mend).join("\n")];
  expect(explained.map((text) => EXPLAINED.exec(text)?.[0])).toEqual(
    explained.map(() => EXPLAINED.exec(reports.text)?.[0]),
  );
  if (!needsSomebody && reports.exitCode === 1)
    expect(reports.text).toMatch(/Nothing is to be done|The first run is on Monday/);

  if (rules.includes("não rodou"))
    expect([status.next, byDoctor]).toEqual(["sudo opsctl doctor weekly", ["opsctl weekly"]]);
  if (rules.includes("incompleto")) expect(needsSomebody).toBe(true);
}

describe("the windows onto a Monday", () => {
  test.each(STATES)("agree: %s", async (name, make, times = AFTER) => {
    await windows.startOver(RUN_AT);
    const summary = (await make()) as WeeklySummary | undefined;
    for (const time of times) {
      await windows.setTime(time);
      const view = await windows.look();
      expectAgreement(name.endsWith("another host") ? { ...view, rules: [] } : view);
      if (summary === undefined || time !== AFTER[0]) continue;
      expect(view.reports.exitCode === 0 && view.status.status === "ok").toBe(summary.exitCode === 0);
      expect(stepsIn(renderSummary(summary))).toEqual(stepsIn(view.reports.text));
    }
  });

  test.each([
    ["this host", () => windows.run({ concurrency: 1 })],
    ["another host", () => windows.weekly.run({ concurrency: 1 })],
  ])("agree: while a run of %s works", async (_where, run) => {
    await windows.startOver(RUN_AT);
    for (let i = 0; i < 3; i += 1) await owner();
    const { weekly } = windows;
    const { onAnalyze } = weekly;
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    let begun = 0;
    weekly.onAnalyze = async (body) => {
      begun += 1;
      await opened;
      await onAnalyze(body);
    };
    const running = run();
    await until(() => begun > 0);
    for (const time of DURING) {
      await windows.setTime(time);
      const view = { ...(await windows.look()), rules: [] };
      expect(view.status).toMatchObject({ status: "ok", next: null });
      expect(view.reports.text).toContain("2 reports missing\n");
      expectAgreement(view);
    }
    open();
    await running;
  });

  test("a run after one that left the networks out writes the heartbeat, as they say", async () => {
    await windows.startOver(RUN_AT);
    await owner();
    expect(await windows.run({ withoutSocial: true })).toMatchObject({ exitCode: 0, heartbeat: "kept" });
    expect(await windows.run()).toMatchObject({ exitCode: 0, heartbeat: "written" });
    expect((await windows.look()).status).toMatchObject({ status: "ok", next: null });
  });
});
