/** What the database says was sent against what the peers took: the promise that no disturbance may break. */
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isWeekClean } from "../../lib/ledger/week-verdict.ts";
import type { LedgerEntry } from "../standins/standin.ts";
import { until } from "../support/until.ts";
import type { Arena } from "./arena.ts";
import type { Ended } from "./worker.ts";

type DeliveryRow = {
  id: string;
  tenantId: string;
  channel: "whatsapp" | "email";
  status: string;
  providerMessageId: string | null;
};

/** The deliveries of an arena by their state: `whatsapp unknown` -> 2. */
export type States = Record<string, number>;

/**
 * Nothing was sent twice, and each row agrees with its peer.
 *
 * Shape:     returns the deliveries by state.
 * Behaviour: holds between any two runs, also right after a kill.
 */
export async function expectNothingDoubled(arena: Arena): Promise<States> {
  await sessionsEnded(arena);
  const rows = await deliveryRows(arena);
  const taken = takenIds(arena);
  const states: States = {};
  for (const row of rows) {
    const ids = taken.get(`${row.channel} ${row.tenantId}`) ?? [];
    expect(ids.length, `${row.channel} of ${row.tenantId} was taken by its peer`).toBeLessThanOrEqual(1);
    if (row.status === "sent") expect(ids).toEqual([row.providerMessageId!]);
    if (row.status === "failed" || row.status === "pending") expect(ids).toEqual([]);
    const state = `${row.channel} ${row.status}`;
    states[state] = (states[state] ?? 0) + 1;
  }
  const keys = new Set(rows.map((row) => `${row.channel} ${row.tenantId}`));
  expect([...taken.keys()].filter((key) => !keys.has(key))).toEqual([]);
  expectOneUnknownCallEach(arena);
  await expectTimeline(arena, rows);
  return states;
}

/** Each owner has one completed report, and each of its deliveries ended as `sent` or `unknown`. */
export async function expectNothingLost(arena: Arena): Promise<States> {
  const states = await expectNothingDoubled(arena);
  const reports = await arena.db.sql`
    select tenant_id, count(*)::int as rows, count(*) filter (where status = 'completed')::int as completed
    from weekly_performance_reports group by 1 order by 1`;
  expect([...reports]).toEqual(
    arena.owners.map(({ tenantId }) => ({ tenant_id: tenantId, rows: 1, completed: 1 })),
  );
  for (const channel of ["whatsapp", "email"]) {
    const ended = (states[`${channel} sent`] ?? 0) + (states[`${channel} unknown`] ?? 0);
    expect(ended, `${channel} deliveries that are sent or unknown`).toBe(arena.owners.length);
  }
  return states;
}

/** A run that found everything done: it reuses all, repeats nothing, and its exit status and heartbeat say so. */
export function expectQuiet(arena: Arena, { summary, exitCode }: Ended, states: States): void {
  const all = arena.owners.length;
  const unknown = (channel: string) => states[`${channel} unknown`] ?? 0;
  const isClean = unknown("whatsapp") + unknown("email") === 0;
  const counts = (channel: string) => ({
    sent: 0,
    reused: all - unknown(channel),
    failed: 0,
    partial: 0,
    unknown: unknown(channel),
    skipped: 0,
  });
  expect(summary).toMatchObject({
    status: isClean ? "success" : "failed",
    exitCode: isClean ? 0 : 1,
    reports: { scopes: all, completed: 0, reused: all, busy: 0, failed: 0 },
    whatsapp: counts("whatsapp"),
    email: counts("email"),
    heartbeat: isClean ? "written" : "kept",
  });
  expect(exitCode).toBe(isClean ? 0 : 1);
  expect(hasHeartbeat(arena)).toBe(isClean);
}

/** Exit status, status, counters and week of a summary agree; a process killed after it printed has no exit status. */
export function expectConsistent({ summary, ...ended }: Ended): void {
  const exitCode = ended.signal === "SIGKILL" ? summary!.exitCode : ended.exitCode;
  const { reports, whatsapp, email, editorials, status, heartbeat } = summary!;
  const bad = [whatsapp, email].map(({ failed, partial, unknown }) => failed + partial + unknown);
  const isOwnClean = reports.failed + reports.busy + bad[0]! + bad[1]! === 0 && summary!.error === null;
  // An outage that lasts beyond the second pass meets the drain, too.
  const isDrainClean = editorials.status !== "failed";
  const isClean = isOwnClean && isDrainClean && summary!.week !== null && isWeekClean(summary!.week);
  expect({ exitCode, status }).toEqual(
    isClean ? { exitCode: 0, status: "success" } : { exitCode: 1, status: "failed" },
  );
  expect(summary!.exitCode).toBe(exitCode!);
  // A run that left the drain to another one does not know how it ended.
  expect(heartbeat).toBe(isClean && editorials.status !== "skipped" ? "written" : "kept");
  expect(reports.completed + reports.reused + reports.busy + reports.failed).toBeLessThanOrEqual(
    reports.scopes,
  );
}

/** Whether the success heartbeat exists. */
export function hasHeartbeat({ logDir }: Arena): boolean {
  return existsSync(join(logDir, "weekly_performance_reports.success"));
}

/** The database may still be at a statement of a process that is dead. */
async function sessionsEnded({ db }: Arena): Promise<void> {
  await until("no session of a dead process is left", async () => {
    const [row] = await db.sql`
      select count(*)::int as sessions from pg_stat_activity
      where datname = current_database() and application_name like 'opsctl%'`;
    return row!.sessions === 0;
  });
}

async function deliveryRows({ db }: Arena): Promise<DeliveryRow[]> {
  return await db.sql<DeliveryRow[]>`
    select id, tenant_id as "tenantId", channel, status, provider_message_id as "providerMessageId"
    from weekly_performance_deliveries order by 2, 3`;
}

/** The ids that the peers gave, by channel and tenant. */
function takenIds({ owners, gateway, email }: Arena): Map<string, string[]> {
  const byPhone = new Map(owners.map(({ phone, tenantId }) => [phone!.replace(/\D/g, ""), tenantId]));
  const byAddress = new Map(owners.map((owner) => [owner.email!, owner.tenantId]));
  const taken = new Map<string, string[]>();
  const add = (key: string, id: string) => taken.set(key, [...(taken.get(key) ?? []), id]);
  for (const { number, id } of gateway.accepted) add(`whatsapp ${byPhone.get(number)}`, id);
  for (const { to, id } of email.accepted) add(`email ${byAddress.get(String(to))}`, id);
  return taken;
}

/** A send whose answer was no definitive refusal may have been accepted: there is never a second one after it. */
function expectOneUnknownCallEach({ gateway, email }: Arena): void {
  const mayBeAccepted = ({ status }: LedgerEntry) => status === null || status < 400 || status >= 500;
  const targets = [
    ...gateway.routes.send.calls.filter(mayBeAccepted).map(({ body }) => (body as { number: string }).number),
    ...email.routes.send.calls.filter(mayBeAccepted).map(({ headers }) => headers["idempotency-key"]),
  ];
  const twice = targets.filter((target, i) => targets.indexOf(target) !== i);
  expect(twice).toEqual([]);
}

async function expectTimeline({ db }: Arena, rows: DeliveryRow[]): Promise<void> {
  const entries = await db.sql`
    select metadata ->> 'deliveryId' as id from timeline_entries
    where source = 'weekly_performance_report' order by 1`;
  const sent = rows.filter(({ channel, status }) => channel === "whatsapp" && status === "sent");
  expect(entries.map(({ id }) => id)).toEqual(sent.map(({ id }) => id).sort());
}
