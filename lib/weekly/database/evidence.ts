import type postgres from "postgres";
import type { WeekBounds } from "../../ledger/week-state.ts";
import { OpsError } from "../../platform/errors.ts";
import { SCHEMA_VERSION, SCORE_WEEKS } from "../payload.ts";
import type { Scope } from "./recipients.ts";

/** An analysis row of the window, as read. */
export type AnalysisRow = {
  id: string;
  connectionId: string;
  channel: string;
  coverageStatus: string;
  reason: string | null;
  metrics: unknown;
  insights: unknown;
  evidence: unknown;
  triggers: unknown;
  /** Null for a time that no report can name, such as infinity. */
  updatedAt: string | null;
};

/**
 * The counts of the e-mail cohort: by the last known state, and in `reached` by what has happened at all; `events` is
 * how many of its sends have an event in the window.
 */
export type EmailCounts = {
  sends: number;
  events: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
  failed: number;
  delayed: number;
  suppressed: number;
  /** Sends that reached a stage or a later one: a click proves the open, an open or a complaint the delivery. */
  reached: { delivered: number; opened: number; clicked: number };
};

/**
 * What the owner's stored reports of the weeks before say, as they say it: nothing of it is checked.
 *
 * Shape: `scores` has an entry for each of the seven weeks before, oldest first, `week` being its Monday; `previous` is
 *        the report of the week before, with the metrics of each channel that was available in it, the names of those
 *        whose data was partial, and by channel the connection whose analysis it shows. A report counts when it is completed, keeps its content and is of this
 *        payload's version.
 */
export type HistoryRows = {
  scores: { week: string; score: unknown }[];
  previous: {
    reportId: string;
    metrics: Record<string, unknown>;
    partial: string[];
    connections: Record<string, unknown>;
  } | null;
};

/** Everything one report is made from, read in one statement. */
export type EvidenceRows = {
  /** When it was read, by the database's clock. */
  readAt: string;
  score: { id: string; score: number | null } | null;
  previousScore: number | null;
  analyses: AnalysisRow[];
  email: EmailCounts;
  /** The name of the business, as the application has it. */
  tenantName: string | null;
  history: HistoryRows;
};

/**
 * Step 5: score, analyses of these connections and the e-mail cohort of exactly this window, and what is known from
 * before it, in one statement.
 *
 * Errors: DATABASE_PERMISSION_DENIED where row security hides rows of these tables, or of the connections, from the
 *         login: the application may have switched it on since the run began, and a hidden row would look like absence.
 */
export async function readEvidence(
  sql: postgres.Sql,
  scope: Scope,
  window: WeekBounds,
  connectionIds: string[],
): Promise<EvidenceRows> {
  const [row] = await sql`
    with bounds as (
      select ${scope.tenantId}::uuid as tenant_id, ${scope.userId}::uuid as user_id,
             ${window.start}::text::timestamptz as window_start,
             ${window.end}::text::timestamptz as window_end
    ), sends as materialized ( -- or the events of a send are read once per count
      ${sendsWithStates(sql)}
    )
    select
      ${isHidden(sql)} as hidden,
      to_char(public.weekly_performance_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as read_at,
      (${scoreOfWeek(sql)}) as score,
      (${scoreOfWeekBefore(sql)}) as previous_score,
      (${analysesOf(sql, connectionIds)}) as analyses,
      (${countsOf(sql)}) as email,
      public.weekly_performance_tenant_name(b.tenant_id) as tenant_name,
      public.weekly_performance_report_history(
        b.tenant_id, b.user_id, b.window_start, ${SCHEMA_VERSION}::integer, ${SCORE_WEEKS - 1}::integer) as history
    from bounds as b`;
  if (row!.hidden) throw rowsAreHidden();
  return {
    readAt: row!.read_at,
    score: row!.score,
    previousScore: row!.previous_score,
    analyses: row!.analyses,
    email: row!.email,
    tenantName: row!.tenant_name,
    history: row!.history,
  };
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

function rowsAreHidden(): OpsError {
  return new OpsError({
    code: "DATABASE_PERMISSION_DENIED",
    message: "Cannot read what the report is made of: row security hides rows from this login",
    hint: "opsctl doctor weekly names the table and the SQL that mends it",
  });
}

/** Whether the login may be shown fewer rows than there are. */
function isHidden(sql: postgres.Sql): Fragment {
  return sql`
    (row_security_active('public.social_connections') or row_security_active('public.social_account_scores')
     or row_security_active('public.social_channel_analyses') or row_security_active('public.resend_email_sends')
     or row_security_active('public.resend_email_events'))`;
}

/** The e-mail cohort: each send of the window with its last event and the stages it has reached inside the window. */
function sendsWithStates(sql: postgres.Sql): Fragment {
  return sql`
    select events.*
    from bounds as b
    join public.resend_email_sends as s
      on s.tenant_id = b.tenant_id and s.user_id = b.user_id
     and s.sent_at >= b.window_start and s.sent_at < b.window_end
    cross join lateral (
      select (array_agg(e.type order by e.occurred_at desc, e.id desc))[1] as last_state,
             bool_or(e.type = 'email.clicked') as clicked,
             bool_or(e.type in ('email.clicked', 'email.opened')) as opened,
             bool_or(e.type in ('email.clicked', 'email.opened', 'email.complained', 'email.delivered')) as delivered
      from public.resend_email_events as e
      where e.provider_email_id = s.provider_email_id and e.tenant_id = b.tenant_id
        and e.occurred_at >= b.window_start and e.occurred_at < b.window_end
        and e.type in ('email.delivered', 'email.opened', 'email.clicked', 'email.bounced',
                       'email.complained', 'email.failed', 'email.delivery_delayed', 'email.suppressed')
    ) as events`;
}

function scoreOfWeek(sql: postgres.Sql): Fragment {
  return sql`
    select jsonb_build_object('id', a.id, 'score', a.score)
    from public.social_account_scores as a
    where a.tenant_id = b.tenant_id and a.user_id = b.user_id
      and a.window_start = b.window_start and a.window_end = b.window_end`;
}

function scoreOfWeekBefore(sql: postgres.Sql): Fragment {
  return sql`
    select to_jsonb(a.score)
    from public.social_account_scores as a, public.weekly_performance_window(b.window_start) as previous
    where a.tenant_id = b.tenant_id and a.user_id = b.user_id
      and a.window_start = previous.window_start and a.window_end = previous.window_end`;
}

// As json, not jsonb: to gather jsonb again takes the square of its keys.
function analysesOf(sql: postgres.Sql, connectionIds: string[]): Fragment {
  return sql`
    select coalesce(json_agg(json_build_object(
             'id', c.id, 'connectionId', c.connection_id, 'channel', c.channel,
             'coverageStatus', c.coverage_status, 'reason', c.reason, 'metrics', c.metrics,
             'insights', c.insights, 'evidence', c.evidence, 'triggers', c.triggers,
             'updatedAt', case when c.updated_at between timestamptz '1970-01-01Z' and timestamptz '9999-12-31Z'
                               then to_char(c.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') end)
             order by c.connection_id), '[]')
    from public.social_channel_analyses as c
    where c.tenant_id = b.tenant_id and c.user_id = b.user_id
      and c.window_start = b.window_start and c.window_end = b.window_end
      and c.connection_id in (
        select wanted.id::uuid
        from jsonb_array_elements_text(${JSON.stringify(connectionIds)}::text::jsonb) as wanted(id))`;
}

function countsOf(sql: postgres.Sql): Fragment {
  return sql`
    select jsonb_build_object(
             'sends', count(*), 'events', count(last_state),
             'delivered', count(*) filter (where last_state = 'email.delivered'),
             'opened', count(*) filter (where last_state = 'email.opened'),
             'clicked', count(*) filter (where last_state = 'email.clicked'),
             'bounced', count(*) filter (where last_state = 'email.bounced'),
             'complained', count(*) filter (where last_state = 'email.complained'),
             'failed', count(*) filter (where last_state = 'email.failed'),
             'delayed', count(*) filter (where last_state = 'email.delivery_delayed'),
             'suppressed', count(*) filter (where last_state = 'email.suppressed'),
             'reached', jsonb_build_object(
               'delivered', count(*) filter (where delivered),
               'opened', count(*) filter (where opened),
               'clicked', count(*) filter (where clicked)))
    from sends`;
}
