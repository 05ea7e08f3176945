/**
 * `opsctl reports status|list|show`: a week's reports as the ledger knows them. The database is read in transactions
 * that can change nothing.
 *
 * JSON:   status: `week`, `lastDate`, `start`, `end`, `retryableUntil`, `runDue` (false on a Monday until a run has
 *         begun at 08:00, or should have: 08:15), `clean`, `hasRun` (false where no run of any week has begun a report),
 *         `counts` (as `week` in the summary of a run), `changedAt`, `open` (each `step`, `state`, `code`, `count`,
 *         `next`), `lastRun` (`status`, `runId`, `host`, `begunAt`, `finishedAt`, `code`, `waiting` (`waitsFor`, `code`,
 *         `since`, `until`; null unless the run waits before it begins), `beside` (the code of editorials or heartbeat
 *         that failed, or null), `heartbeat` (as in the summary of a run, `gone` when it was removed since, or null);
 *         null when this host knows of none).
 *         list: `week`, `start`, `end`, `owners` (each `tenantId`, `tenantName`, `userId`, `eligible`, `reportId`,
 *         `report`, `reportCode`, `prunedAt`, `whatsapp` and `email` (`state`, `code`, `deliveryId`; null without a
 *         completed report), `withoutData` (`channel`, `reason`)), `more`, `next` (a value for `--after`, or null).
 *         show: `reports` (each `week`, `lastDate`, `tenantId`, `tenantName`, `userId`, `eligible`, `details` with
 *         `report` and `deliveries`, `timeline` (`at`, `about`, `text`), `next`).
 *         Instants are UTC; only the words of a timeline show the report's zone.
 */
import type { LastRunFinding } from "../../../lib/reports/last-run.ts";
import { LIST_CHANNELS, LIST_STATES } from "../../../lib/reports/list.ts";
import type { WeekStatus } from "../../../lib/reports/status.ts";
import { aPositiveInteger, aUuid } from "../../args/checks.ts";
import { argument, option } from "../../args/options.ts";
import { type CommandContext, defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { withLedgerDatabase } from "../../wiring/ledger/database.ts";

const NAME = "opsctl reports";
const WEEK = option("YYYY-MM-DD", "The week that begins on this Monday (default the last closed one)", {
  values: "weeks",
});

/** The command `reports status`; see the head of this file. */
export const reportsStatus = defineCommand({
  account: "service",
  notes:
    "Ends with 0 when the week is clean and with 1 when something is open. Knows of the runs of all hosts.",
  args: { week: WEEK },
  example: "opsctl reports status",

  async run(args, context) {
    const read = withLedgerDatabase(context, NAME, async (sql) => {
      const { readWeekStatus } = await import("../../../lib/reports/status.ts");
      const { renderStatus } = await import("../../../lib/reports/render-status.ts");
      const status = await readWeekStatus(sql, args.week);
      const found = await lastRunOf(status, context);
      return {
        exitCode: status.clean ? EXIT.ok : EXIT.failed,
        fields: { ...status, lastRun: found.status === "found" ? found.run : null },
        text: (screen) => renderStatus(status, found, screen),
      };
    });
    return await read.catch(async (error) => {
      await warnOfWaitingRun(context);
      throw error;
    });
  },
});

/** The command `reports list`; see the head of this file. */
export const reportsList = defineCommand({
  account: "service",
  notes: "Shows names of tenants, ids, states and codes; never a number or an address.",
  args: {
    week: WEEK,
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
    limit: option("n", "At most this many", { default: "100", check: aPositiveInteger }),
    after: option("uuid", "Continue after the owner with this user id, the last one of an earlier list", {
      check: aUuid,
    }),
  },
  checkTogether: (given) =>
    given.has("state") && ["instagram", "linkedin"].includes(given.get("channel") ?? "")
      ? "option --state goes with --channel whatsapp or email, or with no channel"
      : undefined,
  example: "opsctl reports list --state missing",

  run: (args, context) =>
    withLedgerDatabase(context, NAME, async (sql) => {
      const { listOwners } = await import("../../../lib/reports/list.ts");
      const { renderOwnerList } = await import("../../../lib/reports/render-list.ts");
      const { state, channel, after } = args;
      const list = await listOwners(sql, args.week, { state, channel, after }, Number(args.limit));
      return { fields: list, text: (screen) => renderOwnerList(list, screen) };
    }),
});

/** The command `reports show`; see the head of this file. */
export const reportsShow = defineCommand({
  account: "service",
  notes: "Give either the id of a report or --tenant. Shows names of tenants; never a number or an address.",
  args: {
    "report-id": argument("Id of the report, a UUID", { required: false, check: aUuid }),
    tenant: option("uuid", "The reports of this tenant instead", { check: aUuid }),
    week: WEEK,
  },
  checkTogether: (given) => {
    if (given.has("report-id") === given.has("tenant")) return "give either the id of a report or --tenant";
    return given.has("report-id") && given.has("week") ? "option --week goes with --tenant" : undefined;
  },
  example: "opsctl reports show --tenant 3f2b8c1e-5d47-4a90-9c36-0e1f2a3b4c5d",

  run: ({ "report-id": reportId, tenant, week }, context) =>
    withLedgerDatabase(context, NAME, async (sql) => {
      const { showReports } = await import("../../../lib/reports/show.ts");
      const { renderShown } = await import("../../../lib/reports/render-show.ts");
      const target =
        reportId === undefined
          ? { tenantId: (tenant as string).toLowerCase(), week }
          : { reportId: reportId.toLowerCase() };
      const reports = await showReports(sql, target);
      return { fields: { reports }, text: (screen) => renderShown(reports, screen) };
    }),
});

/** Without a database the last-run file still shows a run that waits for it. */
async function warnOfWaitingRun({ env, log }: CommandContext): Promise<void> {
  const { logDirectory } = await import("../../../lib/platform/config/directories.ts");
  const { findWaiting } = await import("../../../lib/reports/last-run.ts");
  const logDir = await logDirectory(env);
  const waiting = logDir === null ? null : findWaiting(logDir);
  if (waiting !== null) log.warn("A weekly run of this host waits before it can begin", waiting);
}

/** What the last-run file says; without it, or when it cannot be read, the rest of the screen is the same. */
async function lastRunOf({ week, clean }: WeekStatus, { env, log }: CommandContext): Promise<LastRunFinding> {
  const { logDirectory } = await import("../../../lib/platform/config/directories.ts");
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
