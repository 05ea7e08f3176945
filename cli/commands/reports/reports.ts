/**
 * `opsctl reports status|list|show`: a week's reports as the ledger knows them.
 *
 * Reads:  `weekly_performance_reports`, `weekly_performance_deliveries`, `weekly_performance_reconciliations`, names
 *         and eligibility of tenants (through the database's functions); `status` also
 *         `{OPSCTL_LOG_DIR}/weekly_performance_reports.last.json`, where there is one.
 * Writes: nothing; the database is read in transactions that can change nothing.
 * Calls:  nothing but the database.
 * Env:    DATABASE_URL, OPSCTL_LOG_DIR (`status`), COLUMNS, NO_COLOR.
 * Exits:  0 done, 1 `status` of a week that is open, or no such report, 2 usage, 3 not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `error`, and
 *         status: `week`, `lastDate`, `start`, `end`, `retryableUntil`, `runDue` (false on a Monday until a run
 *                 has begun at 08:00, or should have: 08:15), `clean`, `hasRun` (false where no run of any week has begun a
 *                 report), `counts` (as `week` in the summary of a run), `changedAt`, `open` (each `step`, `state`,
 *                 `code`, `count`, `next`), `lastRun` (`status`, `runId`, `host`, `begunAt`,
 *                 `finishedAt`, `code`, `waiting` (`waitsFor`, `code`, `since`, `until`; null unless the run waits
 *                 before it begins), `beside` (the code of editorials or heartbeat that failed, or null),
 *                 `heartbeat` (as in the summary of a run, `gone` when it was removed since, or null); null when this host knows of none)
 *         list:   `week`, `start`, `end`, `owners` (each `tenantId`, `tenantName`, `userId`, `eligible`, `reportId`,
 *                 `report`, `reportCode`, `prunedAt`, `whatsapp` and `email` (`state`, `code`, `deliveryId`; null
 *                 without a completed report), `withoutData` (`channel`, `reason`)), `more`, `next` (a value for
 *                 `--after`, or null)
 *         show:   `reports` (each `week`, `lastDate`, `tenantId`, `tenantName`, `userId`, `eligible`, `details` with
 *                 `report` and `deliveries`, `timeline` (`at`, `about`, `text`), `next`)
 *         Instants are UTC; only the words of a timeline show the report's zone.
 */
import type postgres from "postgres";
import type { LastRunFinding } from "../../../lib/reports/last-run.ts";
import { LIST_CHANNELS, LIST_STATES } from "../../../lib/reports/list.ts";
import type { ShowTarget } from "../../../lib/reports/show.ts";
import type { WeekStatus } from "../../../lib/reports/status.ts";
import { type CommandContext, defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { type Outcome, outcomeOf } from "../../framework/outcome.ts";
import { aPositiveInteger, aUuid } from "../../framework/usage/value-checks.ts";
import { withLedgerDatabase } from "../../wiring/ledger/database.ts";

const APPLICATION_NAME = "opsctl reports";

const json = { type: "boolean", description: "Print the result as one line of JSON" } as const;
const week = {
  type: "string",
  valueHint: "YYYY-MM-DD",
  description: "The week that begins on this Monday (default the last closed one)",
} as const;

/** The command `reports status`; see the head of this file. */
export const reportsStatus = defineCommand({
  meta: {
    name: "status",
    description: "Show a week in one screen: what is done, what is open, what comes next",
  },
  account: "service",
  notes:
    "Ends with 0 when the week is clean and with 1 when something is open. Knows of the runs of all hosts.",
  args: { week, json },
  values: { week: "weeks" },
  example: "opsctl reports status",

  run: (args, context) =>
    withDatabaseOrWait(context, async (sql) => {
      const { readWeekStatus } = await import("../../../lib/reports/status.ts");
      const { renderStatus } = await import("../../../lib/reports/render-status.ts");
      const { standardScreen } = await import("../../framework/streams/screen.ts");
      const status = await readWeekStatus(sql, args.week);
      const found = await lastRunOf(status, context);
      return outcomeOf({
        command: "reports status",
        exitCode: status.clean ? EXIT.ok : EXIT.failed,
        fields: { ...status, lastRun: found.status === "found" ? found.run : null },
        text: renderStatus(status, found, await standardScreen(context.env)),
      });
    }),
});

/** The command `reports list`; see the head of this file. */
export const reportsList = defineCommand({
  meta: { name: "list", description: "List the owners of a week, with report, deliveries and missing data" },
  account: "service",
  notes: "Shows names of tenants, ids, states and codes; never a number or an address.",
  args: {
    week,
    state: {
      type: "enum",
      options: [...LIST_STATES],
      description:
        "Only owners whose report or a delivery of it is in this state; open is all that keeps the week from being clean",
    },
    channel: {
      type: "enum",
      options: [...LIST_CHANNELS],
      description:
        "Only owners without this message or network; with --state, whose message is in that state",
    },
    limit: { type: "string", valueHint: "n", default: "100", description: "At most this many" },
    after: {
      type: "string",
      valueHint: "uuid",
      description: "Go on behind the owner with this user id, the last one of an earlier list",
    },
    json,
  },
  checks: { limit: aPositiveInteger, after: aUuid },
  values: { week: "weeks" },
  checkTogether: (given) =>
    given.has("state") && ["instagram", "linkedin"].includes(given.get("channel") ?? "")
      ? "option --state goes with --channel whatsapp or email, or with no channel"
      : undefined,
  example: "opsctl reports list --state missing",

  run: (args, context) =>
    withLedgerDatabase(context, APPLICATION_NAME, async (sql) => {
      const { listOwners } = await import("../../../lib/reports/list.ts");
      const { renderOwnerList } = await import("../../../lib/reports/render-list.ts");
      const { standardScreen } = await import("../../framework/streams/screen.ts");
      const { state, channel, after } = args;
      const list = await listOwners(sql, args.week, { state, channel, after }, Number(args.limit));
      // The table of a long list takes longer than its JSON.
      const text = args.json ? "" : renderOwnerList(list, await standardScreen(context.env));
      return outcomeOf({ command: "reports list", fields: list, text });
    }),
});

/** The command `reports show`; see the head of this file. */
export const reportsShow = defineCommand({
  meta: { name: "show", description: "Tell what happened to a report, from its claim to the providers' ids" },
  account: "service",
  notes: "Give either the id of a report or --tenant. Shows names of tenants; never a number or an address.",
  args: {
    "report-id": { type: "positional", required: false, description: "Id of the report, a UUID" },
    tenant: { type: "string", valueHint: "uuid", description: "The reports of this tenant instead" },
    week,
    json,
  },
  checks: { "report-id": aUuid, tenant: aUuid },
  values: { week: "weeks" },
  checkTogether: (given) => {
    if (given.has("report-id") === given.has("tenant")) return "give either the id of a report or --tenant";
    return given.has("report-id") && given.has("week") ? "option --week goes with --tenant" : undefined;
  },
  example: "opsctl reports show --tenant 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  run: (args, context) =>
    withLedgerDatabase(context, APPLICATION_NAME, async (sql) => {
      const { showReports } = await import("../../../lib/reports/show.ts");
      const { renderShown } = await import("../../../lib/reports/render-show.ts");
      const reports = await showReports(sql, targetOf(args));
      const { standardScreen } = await import("../../framework/streams/screen.ts");
      const text = renderShown(reports, await standardScreen(context.env));
      return outcomeOf({ command: "reports show", fields: { reports }, text });
    }),
});

/** Without a database the file still tells of a run that waits for it. */
async function withDatabaseOrWait(
  context: CommandContext,
  use: (sql: postgres.Sql) => Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await withLedgerDatabase(context, APPLICATION_NAME, use);
  } catch (error) {
    const { logDirectory } = await import("../../../lib/platform/config/settings/log-directory.ts");
    const { findWaiting } = await import("../../../lib/reports/last-run.ts");
    const logDir = await logDirectory(context.env);
    const waiting = logDir === null ? null : findWaiting(logDir);
    if (waiting !== null) context.log.warn("A weekly run of this host waits before it can begin", waiting);
    throw error;
  }
}

/** What the last-run file says; without it, or when it cannot be read, the rest of the screen is the same. */
async function lastRunOf({ week, clean }: WeekStatus, { env, log }: CommandContext): Promise<LastRunFinding> {
  const { logDirectory } = await import("../../../lib/platform/config/settings/log-directory.ts");
  const { findLastRun } = await import("../../../lib/reports/last-run.ts");
  const logDir = await logDirectory(env);
  if (logDir === null) {
    log.warn("OPSCTL_LOG_DIR is no absolute path, so that what the last run left is not known", {
      code: "CONFIG_INVALID",
    });
    return { status: "none", hasHostWorked: false };
  }
  const found = findLastRun(logDir, { week, isClean: clean });
  if (found.status === "unreadable")
    log.warn("The last-run file cannot be read", { code: found.code, logDir });
  return found;
}

function targetOf(args: {
  "report-id"?: string | undefined;
  tenant?: string | undefined;
  week?: string | undefined;
}): ShowTarget {
  const { "report-id": reportId, tenant } = args;
  if (reportId !== undefined) return { reportId: reportId.toLowerCase() };
  return { tenantId: tenant!.toLowerCase(), week: args.week };
}
