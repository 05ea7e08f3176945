/** An application that is away for a while, by a virtual clock, and what that cost the reports. */
import type { LedgerEntry, Scripted } from "../../standins/standin.ts";
import { type VirtualTime, virtualTime } from "./virtual-time.ts";
import type { WeeklyFixture } from "./weekly-fixture.ts";

/** What the application does while it is away. */
export const AWAY: Scripted = { status: 503, json: { error: "away" } };

/** So many owners at once, with an account of each network and no e-mails. */
export async function seedManyOwners({ db }: WeeklyFixture, count: number): Promise<void> {
  await db.sql`
    with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, ${count}::int) as i returning id),
      w as (insert into credit_wallets (tenant_id, status) select id, 'active' from t),
      n as (select id, row_number() over () as number from t),
      u as (
        insert into users (tenant_id, role, phone, email)
        select id, 'owner', '119' || (60000000 + number), 'owner' || number || '@many.example' from n
        returning id, tenant_id)
    insert into social_connections (tenant_id, user_id, network, status)
    select u.tenant_id, u.id, network, 'active' from u cross join (values ('instagram'), ('linkedin')) as a(network)`;
}

/** A stretch of time in which the application is away, and the calls that came to nothing in it. */
export type Outage = { time: VirtualTime; callsInVain: number };

/** Takes the application away at its `fromCall`-th call of this run, for so many seconds. */
export function outage(
  { application }: WeeklyFixture,
  { fromCall, seconds, answer = AWAY }: { fromCall: number; seconds: number; answer?: Scripted },
): Outage {
  const time = virtualTime();
  const { analysis } = application.routes;
  const first = analysis.calls.length + fromCall;
  let untilMs: number | null = null;
  const made: Outage = { time, callsInVain: 0 };
  analysis.script = (): Scripted | undefined => {
    if (analysis.calls.length < first) return undefined;
    untilMs ??= time.monotonicMs() + seconds * 1_000;
    if (time.monotonicMs() >= untilMs) return undefined;
    made.callsInVain += 1;
    return answer;
  };
  return made;
}

/** How many completed reports there are, and which networks of them have no data, with the reason. */
export async function lackingNetworks({ db }: Pick<WeeklyFixture, "db">) {
  const rows = await db.sql<{ reason: string | null }[]>`
    select r.payload #>> array['channels', n.name, 'reason'] as reason
    from weekly_performance_reports as r cross join (values ('instagram'), ('linkedin')) as n(name)
    where r.status = 'completed' and r.payload #>> array['channels', n.name, 'status'] = 'unavailable'`;
  const [row] = await db.sql<{ completed: number }[]>`
    select count(*)::int as completed from weekly_performance_reports where status = 'completed'`;
  return { completed: row!.completed, lacking: rows.map(({ reason }) => reason).sort() };
}

/** The state and code of every report's row, counted: `failed social_retry` -> 3. */
export async function reportStates({ db }: Pick<WeeklyFixture, "db">): Promise<Record<string, number>> {
  const rows = await db.sql<{ state: string; n: number }[]>`
    select concat_ws(' ', status, error_code) as state, count(*)::int as n
    from weekly_performance_reports group by 1 order by 1`;
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

/** The connection that a call asked for; for a route's `scriptByBody`. */
export function connectionOf(entry: LedgerEntry): string {
  return (entry.body as { connectionId: string }).connectionId;
}
