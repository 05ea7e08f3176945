/** A privilege on columns of one table in schema `public`, needed by one side. */
export type TableRequirement = {
  /** `login` connects for the weekly run, `owner` owns opsctl's functions. */
  side: "login" | "owner";
  privilege: "SELECT" | "INSERT" | "REFERENCES";
  table: string;
  columns: readonly string[];
  /** Whether opsctl's migrations make the table, or the application's. */
  origin: "application" | "opsctl";
};

/** A function of opsctl's migrations that the weekly run or an operator calls. */
export type FunctionRequirement = { name: string; args: string };

type Columns = Readonly<Record<string, readonly string[]>>;

const LOGIN_READS: Columns = {
  users: ["id", "tenant_id", "phone", "email"],
  tenant_config: ["tenant_id", "config"],
  social_connections: ["id", "tenant_id", "user_id", "network", "status", "created_at"],
  social_account_scores: ["id", "tenant_id", "user_id", "window_start", "window_end", "score"],
  social_channel_analyses: [
    ...["id", "tenant_id", "user_id", "connection_id", "channel", "window_start", "window_end"],
    ...["coverage_status", "reason", "metrics", "insights", "evidence", "triggers", "updated_at"],
  ],
  messaging_instances: ["id", "tenant_id", "instance_name", "created_at"],
  resend_email_sends: ["id", "tenant_id", "user_id", "provider_email_id", "sent_at"],
  resend_email_events: ["id", "tenant_id", "provider_email_id", "type", "occurred_at"],
};

// Without `tenants.status`: it is never read, and the application may drop it. Without `tenants.name`: only lists for
// people show it, and no run is refused for it.
const OWNER_READS: Columns = {
  tenants: ["id", "archived_at"],
  users: ["id", "tenant_id", "role", "created_at"],
  credit_wallets: ["tenant_id", "status"],
};

const OWNER_REFERENCES: Columns = { tenants: ["id"], users: ["id"] };

const OWNER_INSERTS: Columns = {
  timeline_entries: ["tenant_id", "user_id", "source", "kind", "title", "metadata"],
};

// A key column represents the table as its first migration made it; columns that later migrations add are listed one by
// one.
const OWN_TABLES: Columns = {
  weekly_performance_reports: ["id", "pruned_at"],
  weekly_performance_deliveries: ["id"],
  weekly_performance_reconciliations: ["id", "session_user_name"],
  weekly_performance_erased_messages: ["digest"],
};

/** What the application's tables must have and allow: every column that opsctl reads, references or fills. */
export const APPLICATION_REQUIREMENTS: readonly TableRequirement[] = [
  ...onTables({ side: "login", privilege: "SELECT", origin: "application" }, LOGIN_READS),
  ...onTables({ side: "owner", privilege: "SELECT", origin: "application" }, OWNER_READS),
  ...onTables({ side: "owner", privilege: "REFERENCES", origin: "application" }, OWNER_REFERENCES),
  ...onTables({ side: "owner", privilege: "INSERT", origin: "application" }, OWNER_INSERTS),
];

/** What opsctl's own tables must allow once the migrations are in place. */
export const OWN_REQUIREMENTS: readonly TableRequirement[] = [
  ...onTables({ side: "login", privilege: "SELECT", origin: "opsctl" }, OWN_TABLES),
  ...onTables({ side: "owner", privilege: "SELECT", origin: "opsctl" }, OWN_TABLES),
  ...onTables({ side: "owner", privilege: "INSERT", origin: "opsctl" }, OWN_TABLES),
];

const REPORT_KEY = "uuid, uuid, timestamp with time zone, timestamp with time zone, integer";

/** Every function that the login must find and may execute; `args` as PostgreSQL's `oidvectortypes` prints them. */
export const FUNCTION_REQUIREMENTS: readonly FunctionRequirement[] = [
  { name: "weekly_performance_now", args: "" },
  { name: "weekly_performance_is_report_day", args: "timestamp with time zone" },
  { name: "weekly_performance_window", args: "timestamp with time zone" },
  { name: "list_weekly_performance_report_scopes", args: "uuid" },
  { name: "claim_weekly_performance_report", args: `${REPORT_KEY}, uuid` },
  { name: "weekly_performance_tenant_name", args: "uuid" },
  {
    name: "weekly_performance_report_history",
    args: "uuid, uuid, timestamp with time zone, integer, integer",
  },
  { name: "persist_weekly_performance_report", args: `uuid, uuid, ${REPORT_KEY}, text, text, jsonb` },
  { name: "fail_weekly_performance_report", args: "uuid, uuid, text" },
  { name: "claim_weekly_performance_delivery", args: "uuid, text, uuid" },
  { name: "dispatch_weekly_performance_delivery", args: "uuid, uuid, uuid, text" },
  { name: "settle_weekly_performance_delivery", args: "uuid, uuid, text, text, text" },
  { name: "reconcile_weekly_performance_delivery", args: "uuid, text, text, text, text" },
  { name: "repair_weekly_performance_delivery", args: "uuid" },
  { name: "prune_weekly_performance_reports", args: "timestamp with time zone, integer" },
  { name: "weekly_performance_message_digest", args: "text" },
  { name: "weekly_performance_week", args: "timestamp with time zone, timestamp with time zone" },
  {
    name: "weekly_performance_week_owners",
    args: "timestamp with time zone, timestamp with time zone, uuid",
  },
  {
    name: "weekly_performance_report_state",
    args: "text, timestamp with time zone, timestamp with time zone",
  },
  {
    name: "weekly_performance_delivery_state",
    args: "text, timestamp with time zone, timestamp with time zone, timestamp with time zone",
  },
];

function onTables(
  need: Pick<TableRequirement, "side" | "privilege" | "origin">,
  tables: Columns,
): TableRequirement[] {
  return Object.entries(tables).map(([table, columns]) => ({ ...need, table, columns }));
}
