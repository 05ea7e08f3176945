/**
 * `opsctl reports prune`: removes the content of older weeks' reports.
 *
 * Writes: payload and evidence of completed reports become null, `pruned_at` says when; key, state and fingerprint stay,
 *         and so do all deliveries.
 * JSON:   `before`, `reports` (how many were pruned), `left` (whether some may be left).
 */
import { option } from "../../args/options.ts";
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { withLedgerDatabase } from "../../wiring/ledger/database.ts";

/** The command; see the head of this file. */
export const reportsPrune = defineCommand({
  account: "service",
  notes:
    "Every week keeps its content for eight weeks after it has closed. What was sent, when and to whom is kept in any case.",
  args: {
    before: option("YYYY-MM-DD", "Weeks that begin before this Monday", {
      required: true,
      values: "old-weeks",
    }),
  },
  example: "opsctl reports prune --before 2026-01-05",

  run(args, context) {
    const interrupt = context.interrupted();
    return withLedgerDatabase(context, "opsctl reports", async (sql) => {
      const { pruneReports } = await import("../../../lib/reports/prune.ts");
      const { renderPruned } = await import("../../../lib/reports/render-pruned.ts");
      const pruned = await pruneReports(sql, args.before, interrupt);
      return {
        exitCode: pruned.left ? EXIT.failed : EXIT.ok,
        fields: pruned,
        error: pruned.left ? (interrupt.aborted ? INTERRUPTED : HELD) : null,
        text: (screen) => renderPruned(pruned, screen),
      };
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
