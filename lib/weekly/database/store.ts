import type postgres from "postgres";

/** The two ways in which a report reaches its owner. */
export type DeliveryChannelName = "whatsapp" | "email";

/** A tenant owner who gets a report. */
export type Scope = { tenantId: string; userId: string };

/** The closed week as the database sees it: instants in canonical UTC text. */
export type WindowBounds = { start: string; end: string };

/** A connection whose weekly analysis the application is asked for. */
export type Connection = { id: string; network: "instagram" | "linkedin" };

/** The claim of one report; a token only with the three outcomes that permit work. */
export type ReportClaim = {
  reportId: string | null;
  outcome: "claimed" | "resumed" | "taken_over" | "completed" | "busy" | "ineligible";
  token: string | null;
  /** The stored payload of a completed report, unchecked. */
  payload: unknown;
  connections: Connection[];
  /** What the ledger already says of a completed report, by channel. */
  deliveries: Partial<Record<DeliveryChannelName, string>>;
};

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
  updatedAt: string;
};

/** The counts of the e-mail cohort; `events` is how many of its sends have an event in the window. */
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
};

/** Everything one report is made from, read in one statement. */
export type EvidenceRows = {
  /** The clock's instant of the read. */
  readAt: string;
  score: { id: string; score: number | null } | null;
  previousScore: number | null;
  analyses: AnalysisRow[];
  email: EmailCounts;
};

/** The claim of one delivery, with what is needed to address it. */
export type DeliveryClaim = {
  deliveryId: string;
  outcome: "claimed" | "resumed" | "taken_over" | "sent" | "unknown" | "busy";
  token: string | null;
  /** `users.phone` or `users.email`, as the person typed it. */
  recipient: string | null;
  /** Name of the newest messaging instance, or `tenant_config.config.email`, of the sender tenant. */
  sender: unknown;
};

/** The final state of a delivery, as the ledger has it. */
export type Settled = { status: "sent" | "failed" | "unknown"; errorCode: string | null };

/** Every SQL call of the weekly run. */
export type Store = ReturnType<typeof weeklyStore>;

/**
 * The database as the weekly run uses it, one function per step; only the drain's lock holds a transaction open.
 *
 * Shape:  instants go in and come out as UTC text, so that neither the session's zone nor a millisecond date type
 *         changes what is read.
 * Errors: the driver's own; `classifyDatabaseError` tells a lost connection from a refusal. SQLSTATE `OW...` are
 *         the refusals of opsctl's functions.
 */
export function weeklyStore(sql: postgres.Sql) {
  return {
    /** The clock's instant, canonical UTC text with microseconds. */
    async now(): Promise<string> {
      const [row] = await sql`
        select to_char(public.weekly_performance_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`;
      return row!.now;
    },

    async countScopes(tenantId: string | null): Promise<number> {
      const [row] = await sql`
        select count(*)::int as count
        from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
        where ${tenantId}::uuid is null or s.tenant_id = ${tenantId}::uuid`;
      return row!.count;
    },

    /** The next page of eligible owners after `after`, in key order. */
    async listScopes(tenantId: string | null, after: Scope | null, limit: number): Promise<Scope[]> {
      return await sql<Scope[]>`
        select s.tenant_id as "tenantId", s.user_id as "userId"
        from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
        where (${tenantId}::uuid is null or s.tenant_id = ${tenantId}::uuid)
          and (${after?.tenantId ?? null}::uuid is null
               or (s.tenant_id, s.user_id) > (${after?.tenantId ?? null}::uuid, ${after?.userId ?? null}::uuid))
        order by s.tenant_id, s.user_id
        limit ${limit}`;
    },

    /** Steps 1 and 2: claims the report and lists the owner's active connections. */
    async claimReport(scope: Scope, window: WindowBounds, schemaVersion: number): Promise<ReportClaim> {
      const [row] = await sql`
        with claim as materialized (
          select * from public.claim_weekly_performance_report(
            p_tenant_id => ${scope.tenantId}::uuid, p_user_id => ${scope.userId}::uuid,
            p_window_start => ${window.start}::text::timestamptz,
            p_window_end => ${window.end}::text::timestamptz,
            p_schema_version => ${schemaVersion}::integer)
        )
        select c.report_id, c.outcome, c.claim_token,
          (select r.payload from public.weekly_performance_reports as r
           where r.id = c.report_id and c.outcome = 'completed' and r.status = 'completed') as payload,
          (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'network', s.network)
                                     order by s.network, s.created_at, s.id), '[]')
           from public.social_connections as s
           where c.claim_token is not null
             and s.tenant_id = ${scope.tenantId}::uuid and s.user_id = ${scope.userId}::uuid
             and s.status = 'active' and s.network in ('instagram', 'linkedin')) as connections,
          -- Only of a completed report: a plan made while the table was empty would read all of it each time.
          case when c.outcome = 'completed' then
            (select coalesce(jsonb_object_agg(d.channel, d.status), '{}')
             from public.weekly_performance_deliveries as d where d.report_id = c.report_id)
          else '{}' end as deliveries
        from claim as c`;
      if (!row) throw new Error("claim_weekly_performance_report answered no row");
      return {
        reportId: row.report_id,
        outcome: row.outcome,
        token: row.claim_token,
        // Completed by another process while this claim waited for it: not yet in the statement's snapshot.
        payload:
          row.outcome === "completed" ? (row.payload ?? (await readPayload(row.report_id))) : undefined,
        connections: row.connections,
        deliveries: row.deliveries,
      };
    },

    /** Step 5: score, analyses of these connections and the e-mail cohort of exactly this window, in one pass. */
    async readEvidence(scope: Scope, window: WindowBounds, connectionIds: string[]): Promise<EvidenceRows> {
      const [row] = await sql`
        with bounds as (
          select ${scope.tenantId}::uuid as tenant_id, ${scope.userId}::uuid as user_id,
                 ${window.start}::text::timestamptz as window_start,
                 ${window.end}::text::timestamptz as window_end
        ), sends as materialized ( -- or the last event is looked for once per count
          select (
            select e.type from public.resend_email_events as e
            where e.provider_email_id = s.provider_email_id and e.tenant_id = b.tenant_id
              and e.occurred_at >= b.window_start and e.occurred_at < b.window_end
              and e.type in ('email.delivered', 'email.opened', 'email.clicked', 'email.bounced',
                             'email.complained', 'email.failed', 'email.delivery_delayed', 'email.suppressed')
            order by e.occurred_at desc, e.id desc limit 1) as last_state
          from bounds as b
          join public.resend_email_sends as s
            on s.tenant_id = b.tenant_id and s.user_id = b.user_id
           and s.sent_at >= b.window_start and s.sent_at < b.window_end
        )
        select
          to_char(public.weekly_performance_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as read_at,
          (select jsonb_build_object('id', a.id, 'score', a.score)
           from public.social_account_scores as a
           where a.tenant_id = b.tenant_id and a.user_id = b.user_id
             and a.window_start = b.window_start and a.window_end = b.window_end) as score,
          (select to_jsonb(a.score)
           from public.social_account_scores as a, public.weekly_performance_window(b.window_start) as previous
           where a.tenant_id = b.tenant_id and a.user_id = b.user_id
             and a.window_start = previous.window_start and a.window_end = previous.window_end
          ) as previous_score,
          -- As text: to gather jsonb again takes the square of its keys.
          (select coalesce(json_agg(json_build_object(
                    'id', c.id, 'connectionId', c.connection_id, 'channel', c.channel,
                    'coverageStatus', c.coverage_status, 'reason', c.reason, 'metrics', c.metrics,
                    'insights', c.insights, 'evidence', c.evidence, 'triggers', c.triggers,
                    'updatedAt', to_char(c.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
                    order by c.connection_id), '[]')
           from public.social_channel_analyses as c
           where c.tenant_id = b.tenant_id and c.user_id = b.user_id
             and c.window_start = b.window_start and c.window_end = b.window_end
             and c.connection_id in (
               select wanted.id::uuid
               from jsonb_array_elements_text(${JSON.stringify(connectionIds)}::text::jsonb) as wanted(id))
          ) as analyses,
          (select jsonb_build_object(
                    'sends', count(*), 'events', count(last_state),
                    'delivered', count(*) filter (where last_state = 'email.delivered'),
                    'opened', count(*) filter (where last_state = 'email.opened'),
                    'clicked', count(*) filter (where last_state = 'email.clicked'),
                    'bounced', count(*) filter (where last_state = 'email.bounced'),
                    'complained', count(*) filter (where last_state = 'email.complained'),
                    'failed', count(*) filter (where last_state = 'email.failed'),
                    'delayed', count(*) filter (where last_state = 'email.delivery_delayed'),
                    'suppressed', count(*) filter (where last_state = 'email.suppressed'))
           from sends) as email
        from bounds as b`;
      return {
        readAt: row!.read_at,
        score: row!.score,
        previousScore: row!.previous_score,
        analyses: row!.analyses,
        email: row!.email,
      };
    },

    /** Step 6: completes the report and answers the payload as the row keeps it. */
    async persistReport(
      report: { id: string; token: string },
      scope: Scope,
      window: WindowBounds,
      content: { schemaVersion: number; fingerprint: string; evidence: string; payload: unknown },
    ): Promise<unknown> {
      const [row] = await sql`
        select public.persist_weekly_performance_report(
          p_report_id => ${report.id}::uuid, p_claim_token => ${report.token}::uuid,
          p_tenant_id => ${scope.tenantId}::uuid, p_user_id => ${scope.userId}::uuid,
          p_window_start => ${window.start}::text::timestamptz,
          p_window_end => ${window.end}::text::timestamptz,
          p_schema_version => ${content.schemaVersion}::integer, p_fingerprint => ${content.fingerprint}::text,
          p_evidence => ${content.evidence}::text, p_payload => ${JSON.stringify(content.payload)}::text::jsonb
        ) as payload`;
      return row!.payload;
    },

    async failReport(report: { id: string; token: string }, errorCode: string): Promise<void> {
      await sql`
        select public.fail_weekly_performance_report(
          p_report_id => ${report.id}::uuid, p_claim_token => ${report.token}::uuid,
          p_error_code => ${errorCode}::text)`;
    },

    /** Steps 7 and 8: claims the WhatsApp delivery; recipient and instance are read with it. */
    async claimWhatsapp(reportId: string, scope: Scope, senderTenantId: string): Promise<DeliveryClaim> {
      const [row] = await sql`
        with claim as materialized (
          select * from public.claim_weekly_performance_delivery(
            p_report_id => ${reportId}::uuid, p_channel => 'whatsapp')
        )
        select c.delivery_id, c.outcome, c.claim_token, u.phone as recipient,
          (select i.instance_name from public.messaging_instances as i
           where i.tenant_id = ${senderTenantId}::uuid
           order by i.created_at desc, i.id desc limit 1) as sender
        from claim as c
        left join public.users as u on u.tenant_id = ${scope.tenantId}::uuid and u.id = ${scope.userId}::uuid`;
      return deliveryClaim(row);
    },

    /** Step 10: claims the e-mail delivery; recipient and central sender are read with it. */
    async claimEmail(reportId: string, scope: Scope, senderTenantId: string): Promise<DeliveryClaim> {
      const [row] = await sql`
        with claim as materialized (
          select * from public.claim_weekly_performance_delivery(
            p_report_id => ${reportId}::uuid, p_channel => 'email')
        )
        select c.delivery_id, c.outcome, c.claim_token, u.email as recipient,
          (select t.config -> 'email' from public.tenant_config as t
           where t.tenant_id = ${senderTenantId}::uuid) as sender
        from claim as c
        left join public.users as u on u.tenant_id = ${scope.tenantId}::uuid and u.id = ${scope.userId}::uuid`;
      return deliveryClaim(row);
    },

    /** The point of no return before a send; repeated before each further try under the same claim. */
    async dispatchDelivery(
      delivery: { id: string; token: string },
      senderTenantId: string,
      maskedHint: string,
    ): Promise<void> {
      await sql`
        select public.dispatch_weekly_performance_delivery(
          p_delivery_id => ${delivery.id}::uuid, p_claim_token => ${delivery.token}::uuid,
          p_sender_tenant_id => ${senderTenantId}::uuid, p_masked_hint => ${maskedHint}::text)`;
    },

    async settleDelivery(
      delivery: { id: string; token: string },
      result: { status: Settled["status"]; providerMessageId: string | null; errorCode: string | null },
    ): Promise<Settled> {
      const [row] = await sql`
        select s.status, s.error_code from public.settle_weekly_performance_delivery(
          p_delivery_id => ${delivery.id}::uuid, p_claim_token => ${delivery.token}::uuid,
          p_status => ${result.status}::text, p_provider_message_id => ${result.providerMessageId}::text,
          p_error_code => ${result.errorCode}::text) as s`;
      return { status: row!.status, errorCode: row!.error_code };
    },

    /** What became of a delivery that another process held when this run came by. */
    async readDelivery(deliveryId: string): Promise<{ status: string; errorCode: string | null }> {
      const [row] = await sql`
        select status, error_code from public.weekly_performance_deliveries where id = ${deliveryId}::uuid`;
      return { status: row!.status, errorCode: row!.error_code };
    },

    /** Central senders for the readiness check: the newest instance's name, and `tenant_config.config.email`. */
    async readSenders(
      whatsappTenantId: string | null,
      emailTenantId: string | null,
    ): Promise<{ instanceName: string | null; emailSender: unknown }> {
      const [row] = await readOnly(
        (tx) => tx`
        select
          (select i.instance_name from public.messaging_instances as i
           where i.tenant_id = ${whatsappTenantId}::uuid
           order by i.created_at desc, i.id desc limit 1) as "instanceName",
          (select t.config -> 'email' from public.tenant_config as t
           where t.tenant_id = ${emailTenantId}::uuid) as "emailSender"`,
      );
      return { instanceName: row!.instanceName, emailSender: row!.emailSender };
    },

    /** A page of eligible owners with their recipients, for the readiness check. */
    async listRecipients(
      tenantId: string | null,
      after: Scope | null,
      limit: number,
    ): Promise<(Scope & { phone: string | null; email: string | null })[]> {
      return await readOnly(
        (tx) => tx<(Scope & { phone: string | null; email: string | null })[]>`
        select s.tenant_id as "tenantId", s.user_id as "userId", u.phone, u.email
        from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
        left join public.users as u on u.tenant_id = s.tenant_id and u.id = s.user_id
        where (${tenantId}::uuid is null or s.tenant_id = ${tenantId}::uuid)
          and (${after?.tenantId ?? null}::uuid is null
               or (s.tenant_id, s.user_id) > (${after?.tenantId ?? null}::uuid, ${after?.userId ?? null}::uuid))
        order by s.tenant_id, s.user_id
        limit ${limit}`,
      );
    },

    /**
     * Runs `drain` while this process holds the one drain lock of all hosts, or answers `busy` without waiting.
     *
     * Shape: the lock is a transaction's, on a connection kept for the drain; `confirm` fails once it is lost.
     */
    async withDrainLock<T>(drain: (confirm: () => Promise<void>) => Promise<T>): Promise<T | "busy"> {
      return (await sql.begin(async (tx) => {
        // The transaction only holds the lock, for as long as the route's calls take.
        await tx`set local idle_in_transaction_session_timeout = 0`;
        const [row] = await tx`
          select pg_try_advisory_xact_lock(hashtextextended('opsctl.social_editorials', 0)) as locked`;
        if (!row!.locked) return "busy";
        return await drain(async () => {
          await tx`select 1`;
        });
      })) as T | "busy";
    },
  };

  async function readPayload(reportId: string): Promise<unknown> {
    const [row] =
      await sql`select payload from public.weekly_performance_reports where id = ${reportId}::uuid`;
    return row?.payload;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the driver types a transaction's answer by its query
  async function readOnly<T extends any[]>(read: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
    return (await sql.begin("read only", read)) as T;
  }
}

function deliveryClaim(row: postgres.Row | undefined): DeliveryClaim {
  if (!row) throw new Error("claim_weekly_performance_delivery answered no row");
  return {
    deliveryId: row.delivery_id,
    outcome: row.outcome,
    token: row.claim_token,
    recipient: row.recipient,
    sender: row.sender,
  };
}
