/**
 * What the tests of the SQL files share: a database on each supported PostgreSQL, its clock, and short calls.
 */
import { afterAll, beforeAll, beforeEach, describe } from "bun:test";
import { createHash } from "node:crypto";
import type postgres from "postgres";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { MONDAY, WEEK } from "../../support/seed.ts";
import { until } from "../../support/until.ts";

/** The newest packaged server, and the oldest one that opsctl supports. */
export const MAJORS = [undefined, 15] as const;

/** A tenant owner. */
export type Owner = { tenantId: string; userId: string };
/** A claimed row. */
export type Claim = { id: string; outcome: string; token: string | null; leaseEnd: Date | null };

/** Registers the same tests on every supported PostgreSQL; each gets one database, whose clock starts on a Monday. */
export function describeLedger(name: string, define: (ledger: Ledger) => void): void {
  for (const major of MAJORS) {
    describe(`${name} on PostgreSQL ${major ?? "18"}`, () => {
      let database: TestDatabase;
      const ledger = new Ledger(() => database, major);
      beforeAll(async () => {
        database = await (await sharedPostgres(major)).createDatabase();
      });
      beforeEach(async () => {
        await ledger.setClock(MONDAY);
      });
      afterAll(async () => {
        await database.drop();
      });
      define(ledger);
    });
  }
}

/** What a refused call says: SQLSTATE and message, or the name of the constraint; fails if nothing was refused. */
export async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    const { code, message, constraint_name } = error as {
      code: string;
      message: string;
      constraint_name?: string;
    };
    return constraint_name ? `${code} ${constraint_name}` : `${code} ${message}`;
  }
  throw new Error("The call was not refused");
}

// Instants go as text: the driver would cut a parameter of type timestamptz to milliseconds.

/** The instant `offset` (an interval such as "-1 microsecond") away from another. */
export async function shifted(sql: postgres.ISql, instant: string | Date, offset: string): Promise<string> {
  const [row] = await sql`
    select to_char((${typeof instant === "string" ? instant : instant.toISOString()}::text::timestamptz + ${offset}::interval) at time zone 'UTC',
                   'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as instant`;
  return row!.instant;
}

/** The database under test, with one short method for each function of opsctl's. */
export class Ledger {
  readonly #database: () => TestDatabase;
  /** The server's version, to be passed to `sharedPostgres`. */
  readonly major: number | undefined;

  constructor(database: () => TestDatabase, major?: number) {
    this.#database = database;
    this.major = major;
  }

  get database() {
    return this.#database();
  }
  get sql() {
    return this.#database().sql;
  }

  async setClock(instant: string): Promise<void> {
    await this.sql.unsafe(`
        create or replace function public.weekly_performance_now() returns timestamptz
        language sql stable set search_path = pg_catalog, pg_temp as $$ select '${instant}'::timestamptz $$`);
  }

  async moveClock(offset: string): Promise<void> {
    const [row] = await this.sql`select public.weekly_performance_now()::text as now`;
    await this.setClock(await shifted(this.sql, row!.now, offset));
  }

  /** Returns as soon as a session of this database waits for a lock, by the server's own word. */
  async untilWaiting(): Promise<void> {
    await until("a session that waits for a lock", async () => {
      const [row] = await this.sql`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return row!.waiting > 0;
    });
  }

  /** Removes all owners and everything about them, what the ledger guards included. */
  async empty(): Promise<void> {
    await this.sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      for (const table of OWNED) await tx.unsafe(`delete from public.${table}`);
    });
  }

  async newOwner({ wallet = "active" } = {}): Promise<Owner> {
    const [row] = await this.sql<Owner[]>`
        with t as (insert into tenants (name) values ('Tenant') returning id),
             w as (insert into credit_wallets (tenant_id, status) select id, ${wallet} from t),
             u as (insert into users (tenant_id, role, created_at)
                   select id, 'owner', timestamptz '2026-01-05T12:00:00Z' from t returning id, tenant_id)
        select tenant_id as "tenantId", id as "userId" from u`;
    return row!;
  }

  /** The same calls in another session or transaction. */
  on(session: postgres.ISql): Ledger {
    return new Ledger(() => ({ ...this.database, sql: session as postgres.Sql }), this.major);
  }

  /** Claims with `token`, or with one that the function makes. */
  async claimReport(
    owner: Owner,
    {
      week = WEEK as { start: string; end: string },
      version = 1,
      sql = this.sql as postgres.ISql,
      token = null as string | null,
    } = {},
  ) {
    const [row] = await sql`
        select * from public.claim_weekly_performance_report(
          p_tenant_id => ${owner.tenantId}, p_user_id => ${owner.userId},
          p_window_start => ${week.start}::text::timestamptz, p_window_end => ${week.end}::text::timestamptz, p_schema_version => ${version}
          ${tokenArgument(sql, token)})`;
    return claimOf(row!, "report_id");
  }

  async report(id: string) {
    const [row] = await this.sql`select * from weekly_performance_reports where id = ${id}`;
    return row!;
  }

  /** Calls persist with valid values, of which `wrong` replaces some. */
  async persist(owner: Owner, claim: Claim, wrong: Partial<PersistArguments> = {}): Promise<unknown> {
    const v = { ...validPersist(owner, claim), ...wrong };
    const [row] = await this.sql`
        select public.persist_weekly_performance_report(
          p_report_id => ${v.reportId}, p_claim_token => ${v.token}, p_tenant_id => ${v.tenantId},
          p_user_id => ${v.userId}, p_window_start => ${v.start}::text::timestamptz, p_window_end => ${v.end}::text::timestamptz,
          p_schema_version => ${v.version}, p_fingerprint => ${v.fingerprint}, p_evidence => ${v.evidence},
          p_payload => ${v.payload === null ? null : JSON.stringify(v.payload)}::text::jsonb) as payload`;
    return row!.payload;
  }

  /** Persists a report and claims its WhatsApp message in one statement, as a run does. */
  async persistAndClaim(
    owner: Owner,
    claim: Claim,
    { token = crypto.randomUUID() as string } = {},
  ): Promise<Claim> {
    const { fingerprint, evidence, payload } = validPersist(owner, claim);
    const [row] = await this.sql`
        with stored as materialized (
          select public.persist_weekly_performance_report(
            ${claim.id}, ${claim.token}, ${owner.tenantId}, ${owner.userId}, ${WEEK.start}::text::timestamptz,
            ${WEEK.end}::text::timestamptz, 1, ${fingerprint}, ${evidence}, ${JSON.stringify(payload)}::text::jsonb) as payload
        )
        select c.* from stored, lateral public.claim_weekly_performance_delivery(
          p_report_id => case when stored.payload is not null then ${claim.id}::uuid end,
          p_channel => 'whatsapp', p_claim_token => ${token}::uuid) as c`;
    return claimOf(row!, "delivery_id");
  }

  /** A completed report of another version, as the opsctl that knows it would have made it; returns its id. */
  async otherVersion({ tenantId, userId }: Owner): Promise<string> {
    const [row] = await this.sql<{ id: string }[]>`
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
         coverage_status, completed_at)
      values (${tenantId}, ${userId}, ${WEEK.start}::text::timestamptz, ${WEEK.end}::text::timestamptz, 2, 'completed',
              repeat('0', 64), '', '{}', 'partial', now())
      returning id`;
    return row!.id;
  }

  async failReport(claim: Claim, code: string): Promise<void> {
    await this.sql`select public.fail_weekly_performance_report(${claim.id}, ${claim.token}, ${code})`;
  }

  /** The id of a completed report of a new owner, or of the given one. */
  async completedReport(owner?: Owner): Promise<string> {
    const scope = owner ?? (await this.newOwner());
    const claim = await this.claimReport(scope);
    await this.persist(scope, claim);
    return claim.id;
  }

  async claimDelivery(
    reportId: string,
    channel = "whatsapp",
    sql: postgres.ISql = this.sql,
    token: string | null = null,
  ): Promise<Claim> {
    const [row] = await sql`
        select * from public.claim_weekly_performance_delivery(
          p_report_id => ${reportId}, p_channel => ${channel}
          ${tokenArgument(sql, token)})`;
    return claimOf(row!, "delivery_id");
  }

  async delivery(id: string) {
    const [row] = await this.sql`select * from weekly_performance_deliveries where id = ${id}`;
    return row!;
  }

  async dispatch(claim: Claim, hint: string | null = "4321", sender: string | null = SENDER) {
    await this.sql`
        select public.dispatch_weekly_performance_delivery(
          p_delivery_id => ${claim.id}, p_claim_token => ${claim.token},
          p_sender_tenant_id => ${sender}, p_masked_hint => ${hint})`;
  }

  async settle(claim: Claim, status: string | null, id: string | null = null, code: string | null = null) {
    const [row] = await this.sql`
        select status, error_code as code from public.settle_weekly_performance_delivery(
          p_delivery_id => ${claim.id}, p_claim_token => ${claim.token}, p_status => ${status},
          p_provider_message_id => ${id}, p_error_code => ${code})`;
    return { status: row!.status as string, code: row!.code as string | null };
  }

  /** Settles a delivery and claims the e-mail of its report in one statement, as a run does. */
  async settleAndClaimEmail(
    claim: Claim,
    reportId: string,
    { status, id, code }: { status: string; id: string | null; code: string | null },
  ) {
    const [row] = await this.sql`
        with settled as materialized (
          select s.* from public.settle_weekly_performance_delivery(${claim.id}, ${claim.token}, ${status}, ${id}, ${code}) as s
        )
        select settled.error_code as code from settled, lateral public.claim_weekly_performance_delivery(
          p_report_id => case when settled.status is not null then ${reportId}::uuid end,
          p_channel => 'email', p_claim_token => gen_random_uuid()) as c`;
    return { code: row!.code as string | null };
  }

  async reconcile(
    deliveryId: string,
    status: string | null,
    id: string | null,
    reason: string | null = "Looked up at the provider",
    actor: string | null = "operator",
  ) {
    const [row] = await this.sql`
        select status, error_code as code from public.reconcile_weekly_performance_delivery(
          p_delivery_id => ${deliveryId}, p_status => ${status}, p_provider_message_id => ${id},
          p_reason => ${reason}, p_actor => ${actor})`;
    return { status: row!.status as string, code: row!.code as string | null };
  }

  /** A dispatched delivery of a new completed report. */
  async dispatchedDelivery(channel = "whatsapp"): Promise<Claim> {
    const claim = await this.claimDelivery(await this.completedReport(), channel);
    await this.dispatch(claim, channel === "whatsapp" ? "4321" : "f***@example.com");
    return claim;
  }

  async unknownDelivery(channel = "whatsapp"): Promise<Claim> {
    const claim = await this.dispatchedDelivery(channel);
    await this.settle(claim, "unknown", null, "provider_timeout");
    return claim;
  }

  /** Runs `work` as another role, signed in as `userId` where one is given. */
  async as<T>(role: string, work: (tx: postgres.TransactionSql) => Promise<T>, userId?: string): Promise<T> {
    return (await this.sql.begin(async (tx) => {
      await tx`select set_config('role', ${role}, true), set_config('request.jwt.claim.sub', ${userId ?? ""}, true)`;
      return await work(tx);
    })) as T;
  }
}

/** The tables that have rows about owners in these tests. */
const OWNED = [
  "weekly_performance_erased_messages",
  "weekly_performance_reconciliations",
  "weekly_performance_deliveries",
  "weekly_performance_reports",
  "timeline_entries",
  "credit_wallets",
  "users",
  "tenants",
];

/** Left out without a token, because the functions of an older opsctl make their own. */
function tokenArgument(sql: postgres.ISql, token: string | null) {
  return token === null ? sql`` : sql`, p_claim_token => ${token}::uuid`;
}

/** The tenant that sends for everybody. */
export const SENDER = "5e4de500-0000-4000-8000-000000000001";

/** What persist is called with. */
export type PersistArguments = ReturnType<typeof validPersist>;

/** Values that persist accepts for a claim of `owner`. */
export function validPersist(owner: Owner, claim: Claim) {
  const evidence: string | null = '{"analyses":[],"email":null,"score":null}';
  const fingerprint: string | null = createHash("sha256").update(evidence).digest("hex");
  return {
    reportId: claim.id,
    token: claim.token,
    tenantId: owner.tenantId,
    userId: owner.userId,
    start: WEEK.start,
    end: WEEK.end,
    version: 1,
    fingerprint: fingerprint as string | null,
    evidence: evidence as string | null,
    payload: {
      schemaVersion: 1,
      tenantId: owner.tenantId,
      userId: owner.userId,
      windowStart: WEEK.start,
      windowEnd: WEEK.end,
      coverageStatus: "partial",
      provenance: { fingerprint },
    } as unknown,
  };
}

function claimOf(row: postgres.Row, id: string): Claim {
  return {
    id: row[id],
    outcome: row.outcome,
    token: row.claim_token,
    leaseEnd: row.lease_expires_at,
  };
}
