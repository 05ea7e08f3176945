/**
 * `opsctl reports prune`: removes the content of older weeks' reports.
 *
 * Reads:  `weekly_performance_reports`.
 * Writes: `weekly_performance_reports`, through the database's function: payload and evidence of completed reports
 *         become null, `pruned_at` says when; key, state and fingerprint stay, and so do all deliveries.
 * Calls:  nothing but the database.
 * Env:    DATABASE_URL.
 * Exits:  0 done, 1 ended by a signal or a failure of the database, 2 usage and a week that is too young, 3 not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `before`, `reports` (how many were pruned), `left` (whether some may be
 *         left), `error`.
 */
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { withLedgerDatabase } from "../../wiring/ledger/database.ts";

/** The command; see the head of this file. */
export const reportsPrune = defineCommand({
  meta: { name: "prune", description: "Remove the content of older weeks' reports for good" },
  account: "service",
  notes:
    "Every week keeps its content for eight weeks after it has closed. What was sent, when and to whom is kept in any case.",
  args: {
    before: {
      type: "string",
      valueHint: "YYYY-MM-DD",
      required: true,
      description: "Weeks that begin before this Monday",
    },
    json: { type: "boolean", description: "Print the result as one line of JSON" },
  },
  values: { before: "old-weeks" },
  example: "opsctl reports prune --before 2026-01-05",

  async run(args, context) {
    const interrupt = context.interrupted();
    const { pruneReports } = await import("../../../lib/reports/prune.ts");
    const { renderPruned } = await import("../../../lib/reports/render-pruned.ts");
    return await withLedgerDatabase(context, "opsctl reports", async (sql) => {
      const pruned = await pruneReports(sql, args.before, interrupt);
      return outcomeOf({
        command: "reports prune",
        exitCode: pruned.left ? EXIT.failed : EXIT.ok,
        fields: pruned,
        error: pruned.left ? (interrupt.aborted ? INTERRUPTED : HELD) : null,
        text: renderPruned(pruned, await standardScreen(context.env)),
      });
    });
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
