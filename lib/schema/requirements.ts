/**
 * What one table must have and allow.
 *
 * Shape: `grants` are "login SELECT" and the like: `login` connects for the weekly run, `owner` owns opsctl's functions.
 *        `maker`: whose migrations make the table.
 */
export type TableRequirement = {
  table: string;
  columns: readonly string[];
  grants: readonly string[];
  maker: "application" | "opsctl";
};

/**
 * The application's tables: every column that opsctl reads, references or fills.
 *
 * Behaviour: without `tenants.status`, which is never read, and `tenants.name`, which only lists for people show: no run
 *            is refused for them.
 */
export const APPLICATION_TABLES: readonly TableRequirement[] = [
  ...tables("application", ["login SELECT"], {
    users: "id tenant_id phone email",
    tenant_config: "tenant_id config",
    social_connections: "id tenant_id user_id network status created_at",
    social_account_scores: "id tenant_id user_id window_start window_end score",
    social_channel_analyses:
      "id tenant_id user_id connection_id channel window_start window_end " +
      "coverage_status reason metrics insights evidence triggers updated_at",
    messaging_instances: "id tenant_id instance_name created_at",
    resend_email_sends: "id tenant_id user_id provider_email_id sent_at",
    resend_email_events: "id tenant_id provider_email_id type occurred_at",
  }),
  ...tables("application", ["owner SELECT"], {
    tenants: "id archived_at",
    users: "id tenant_id role created_at",
    credit_wallets: "tenant_id status",
  }),
  ...tables("application", ["owner REFERENCES"], { tenants: "id", users: "id" }),
  ...tables("application", ["owner INSERT"], {
    timeline_entries: "tenant_id user_id source kind title metadata",
  }),
];

/** opsctl's own tables: a key column for each table as it was made first, and every column that came later. */
export const OWN_TABLES: readonly TableRequirement[] = tables(
  "opsctl",
  ["login SELECT", "owner SELECT", "owner INSERT"],
  {
    weekly_performance_reports: "id pruned_at",
    weekly_performance_deliveries: "id",
    weekly_performance_reconciliations: "id session_user_name",
    weekly_performance_erased_messages: "digest",
  },
);

const TIME = "timestamp with time zone";
const REPORT_KEY = `uuid, uuid, ${TIME}, ${TIME}, integer`;

/** Every function that the login must find and may execute, with arguments as PostgreSQL's `oidvectortypes` prints them. */
export const FUNCTIONS: readonly string[] = [
  "weekly_performance_now()",
  `weekly_performance_is_report_day(${TIME})`,
  `weekly_performance_window(${TIME})`,
  "list_weekly_performance_report_scopes(uuid)",
  `claim_weekly_performance_report(${REPORT_KEY}, uuid)`,
  "weekly_performance_tenant_name(uuid)",
  `weekly_performance_report_history(uuid, uuid, ${TIME}, integer, integer)`,
  `persist_weekly_performance_report(uuid, uuid, ${REPORT_KEY}, text, text, jsonb)`,
  "fail_weekly_performance_report(uuid, uuid, text)",
  "claim_weekly_performance_delivery(uuid, text, uuid)",
  "dispatch_weekly_performance_delivery(uuid, uuid, uuid, text)",
  "settle_weekly_performance_delivery(uuid, uuid, text, text, text)",
  "reconcile_weekly_performance_delivery(uuid, text, text, text, text)",
  "repair_weekly_performance_delivery(uuid)",
  `prune_weekly_performance_reports(${TIME}, integer)`,
  "weekly_performance_message_digest(text)",
  `weekly_performance_week(${TIME}, ${TIME})`,
  `weekly_performance_week_owners(${TIME}, ${TIME}, uuid)`,
  `weekly_performance_report_state(text, ${TIME}, ${TIME})`,
  `weekly_performance_delivery_state(text, ${TIME}, ${TIME}, ${TIME})`,
];

function tables(
  maker: TableRequirement["maker"],
  grants: readonly string[],
  columnsOf: Readonly<Record<string, string>>,
): TableRequirement[] {
  return Object.entries(columnsOf).map(([table, columns]) => {
    return { table, columns: columns.split(" "), grants, maker };
  });
}
