/** Gates in the database that hold a run at one write of its flow, for one tenant. */
import type postgres from "postgres";
import { until } from "../support/until.ts";

/** A write of the run flow, as the row it leaves: `report_completed`, `whatsapp_dispatched`, `timeline_entry`. */
export type WriteName =
  | `report_${"claimed" | "completed" | "failed"}`
  | `${"whatsapp" | "email"}_${"claimed" | "dispatched" | "sent" | "failed" | "unknown"}`
  | "timeline_entry";

/**
 * A closed gate.
 *
 * Shape: `reached` waits until a run is held by it; `open` lets the write happen and commit; `refuse` ends the
 *        waiting sessions first, so that the write never happened.
 */
export type Gate = { reached(): Promise<void>; open(): Promise<void>; refuse(): Promise<void> };

const GATES = `
  create function public.chaos_gate() returns trigger language plpgsql as $$
  declare
    v_row   jsonb := to_jsonb(new);
    v_write text;
  begin
    v_write := case tg_table_name
      when 'timeline_entries' then 'timeline_entry'
      when 'weekly_performance_reports' then
        'report_' || case v_row ->> 'status' when 'running' then 'claimed' else v_row ->> 'status' end
      else (v_row ->> 'channel') || '_' || case
        when v_row ->> 'status' <> 'running' then v_row ->> 'status'
        when v_row ->> 'dispatched_at' is null then 'claimed'
        else 'dispatched' end
    end;
    perform pg_catalog.pg_advisory_xact_lock_shared(
      pg_catalog.hashtextextended(v_write || ' ' || (v_row ->> 'tenant_id'), 0));
    return new;
  end $$;
  create trigger chaos_gate before insert or update on public.weekly_performance_reports
    for each row execute function public.chaos_gate();
  create trigger chaos_gate before insert or update on public.weekly_performance_deliveries
    for each row execute function public.chaos_gate();
  create trigger chaos_gate before insert on public.timeline_entries
    for each row execute function public.chaos_gate();`;

/** Adds the gates to a database, all of them open. */
export async function buildGates(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(GATES).simple();
}

/** Closes the gate before one write of one tenant. */
export async function closeGate(sql: postgres.Sql, write: WriteName, tenantId: string): Promise<Gate> {
  const key = `${write} ${tenantId}`;
  return await holdLock(sql, write, (tx) => tx`select pg_advisory_lock(hashtextextended(${key}, 0))`);
}

/** Locks a whole table, so that even reading it waits. */
export async function closeTable(sql: postgres.Sql, table: string): Promise<Gate> {
  return await holdLock(sql, table, (tx) => tx.unsafe(`lock table ${table} in access exclusive mode`));
}

/**
 * Makes the database's clock wait once every delivery is settled and no one drains the editorials: that is when a run
 * asks for the time of its verdict.
 */
export async function closeClockAtVerdict(sql: postgres.Sql): Promise<Gate> {
  const [row] = await sql`
    select pg_get_functiondef('public.weekly_performance_now()'::regprocedure) as definition,
           (public.weekly_performance_now() - now())::text as shift`;
  const gate = await holdLock(sql, "the verdict", (tx) => tx`select pg_advisory_lock(${VERDICT})`);
  await sql.unsafe(`
    create or replace function public.weekly_performance_now() returns timestamptz
    language plpgsql volatile security definer set search_path = '' as $$
    begin
      if (select count(*) from public.weekly_performance_deliveries where status = 'sent')
           = 2 * (select count(*) from public.list_weekly_performance_report_scopes())
         and not exists (
           select from pg_catalog.pg_locks
           where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
             and (classid, objid) <> (0::oid, ${VERDICT}::oid))
      then
        perform pg_catalog.pg_advisory_xact_lock_shared(${VERDICT});
      end if;
      return pg_catalog.now() + interval '${row!.shift}';
    end $$`);
  const restore = async () => void (await sql.unsafe(row!.definition));
  return {
    reached: gate.reached,
    open: () => gate.open().then(restore),
    refuse: () => gate.refuse().then(restore),
  };
}

/** The key of the lock that holds the clock. */
const VERDICT = 1968;

/** Sessions of opsctl that wait for a lock. */
async function waiting(sql: postgres.Sql): Promise<number[]> {
  const rows = await sql`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and application_name like 'opsctl%'`;
  return rows.map((row) => row.pid);
}

async function holdLock(
  sql: postgres.Sql,
  what: string,
  lock: (tx: postgres.TransactionSql) => PromiseLike<unknown>,
): Promise<Gate> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding: Promise<unknown> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    holding = sql.begin(async (tx) => {
      await lock(tx);
      resolve();
      await released;
      await tx`select pg_advisory_unlock_all()`;
    });
    holding.catch(reject);
  });
  const open = async () => {
    release();
    await holding;
    await until(`nobody waits at ${what}`, async () => (await waiting(sql)).length === 0);
  };
  return {
    reached: () => until(`a run waits at ${what}`, async () => (await waiting(sql)).length > 0),
    open,
    async refuse() {
      for (const pid of await waiting(sql)) await sql`select pg_terminate_backend(${pid})`;
      await until(`the sessions at ${what} end`, async () => (await waiting(sql)).length === 0);
      await open();
    },
  };
}
