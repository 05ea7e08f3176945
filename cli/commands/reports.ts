import type { LastRunFinding } from "../../lib/reports/last-run.ts";
import { LIST_CHANNELS, LIST_STATES } from "../../lib/reports/list.ts";
import type { WeekStatus } from "../../lib/reports/status.ts";
import { aPositiveInteger, argument, aUuid, option } from "../args/options.ts";
import { type CommandContext, defineCommand } from "../framework/command.ts";
import { EXIT } from "../framework/exit-status.ts";
import { ledgerCommand, withLedgerDatabase } from "../wiring/ledger/database.ts";

/** The option `--week`. */
export const WEEK = option(
  "YYYY-MM-DD",
  "The week that begins on this Monday (default the last closed one)",
  {
    values: "weeks",
  },
);

/** `opsctl reports status`: a week in one screen. Without a database, a waiting run of this host is still named. */
export const reportsStatus = defineCommand({
  notes:
    "Ends with 0 when the week is clean and with 1 when something is open. Knows of the runs of all hosts.",
  args: { week: WEEK },
  example: "opsctl reports status",

  async run(args, context) {
    const { logDirectory } = await import("../../lib/platform/config/directories.ts");
    const logDir = await logDirectory("reports", context.env);
    const read = withLedgerDatabase("reports", context, async (sql) => {
      const { readWeekStatus } = await import("../../lib/reports/status.ts");
      const { renderStatus } = await import("../../lib/reports/render-status.ts");
      const status = await readWeekStatus(sql, args.week);
      const found = await lastRunOf(status, logDir, context);
      return {
        exitCode: status.clean ? EXIT.ok : EXIT.failed,
        fields: { ...status, lastRun: found.status === "found" ? found.run : null },
        text: (screen) => renderStatus(status, found, screen),
      };
    });
    return await read.catch(async (error) => {
      const { findWaiting } = await import("../../lib/reports/last-run.ts");
      const waiting = logDir === null ? null : findWaiting(logDir);
      if (waiting !== null) context.log.warn("A weekly run of this host waits before it can begin", waiting);
      throw error;
    });
  },
});

/** What the last-run file says; without it, or when it cannot be read, the rest of the screen is the same. */
async function lastRunOf(
  { week, clean }: WeekStatus,
  logDir: string | null,
  { log }: CommandContext,
): Promise<LastRunFinding> {
  const { findLastRun } = await import("../../lib/reports/last-run.ts");
  if (logDir === null) {
    log.warn("OPSCTL_LOG_DIR is no absolute path: the last run is not known", { code: "CONFIG_INVALID" });
    return { status: "none", hasHostWorked: false };
  }
  const found = findLastRun(logDir, { week, isClean: clean });
  if (found.status === "unreadable")
    log.warn("The last-run file cannot be read", { code: found.code, logDir });
  return found;
}

/** `opsctl reports list`: the owners of a week. */
export const reportsList = ledgerCommand("reports", {
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

  async act(sql, { week, state, channel, after, limit }) {
    const { listOwners } = await import("../../lib/reports/list.ts");
    const { renderOwnerList } = await import("../../lib/reports/render-list.ts");
    const list = await listOwners(sql, week, { state, channel, after }, Number(limit));
    return { fields: list, text: (screen) => renderOwnerList(list, screen) };
  },
});

/** `opsctl reports show`: what happened to a report, or to those of a tenant. */
export const reportsShow = ledgerCommand("reports", {
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

  async act(sql, { "report-id": reportId, tenant = "", week }) {
    const { showReports } = await import("../../lib/reports/show.ts");
    const { renderShown } = await import("../../lib/reports/render-show.ts");
    const ofTenant = { tenantId: tenant.toLowerCase(), week };
    const target = reportId === undefined ? ofTenant : { reportId: reportId.toLowerCase() };
    const reports = await showReports(sql, target);
    return { fields: { reports }, text: (screen) => renderShown(reports, screen) };
  },
});

/** `opsctl reports prune`: removes payload and evidence of older weeks' reports; all deliveries stay. */
export const reportsPrune = ledgerCommand("reports", {
  notes: "Every week keeps its content for eight weeks after it has closed. Its deliveries are always kept.",
  args: {
    before: option("YYYY-MM-DD", "Weeks that begin before this Monday", {
      required: true,
      values: "old-weeks",
    }),
  },
  example: "opsctl reports prune --before 2026-01-05",

  async act(sql, { before }, context) {
    const interrupt = context.interrupted();
    const { pruneReports } = await import("../../lib/reports/prune.ts");
    const { renderPruned } = await import("../../lib/reports/render-pruned.ts");
    const pruned = await pruneReports(sql, before, interrupt);
    return {
      exitCode: pruned.left ? EXIT.failed : EXIT.ok,
      fields: pruned,
      error: pruned.left ? (interrupt.aborted ? INTERRUPTED : HELD) : null,
      text: (screen) => renderPruned(pruned, screen),
    };
  },
});

const INTERRUPTED = {
  code: "PRUNE_INTERRUPTED",
  message: "Stopped before all was removed: a signal asked for it",
  hint: "Run it again: it goes on where it stopped",
};

const HELD = {
  code: "PRUNE_HELD",
  message: "Not all was removed: another session holds some of the reports",
  hint: "Run it again in a moment; another prune may be at work",
};
