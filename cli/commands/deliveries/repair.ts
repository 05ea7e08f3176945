/**
 * `opsctl deliveries repair`: writes the timeline entries that deliveries lack which were sent (`partial`).
 *
 * Reads:  `weekly_performance_deliveries`.
 * Writes: the missing entries of `timeline_entries`, once each, and that the delivery lacks nothing any more; through
 *         the database's function. Then, in any case, what is open in
 *         `{OPSCTL_LOG_DIR}/weekly_performance_reports.last.json`, where there is one.
 * Calls:  nothing but the database.
 * Env:    DATABASE_URL, OPSCTL_LOG_DIR.
 * Exits:  0 no entry is missing any more, 1 some still are, 2 usage, 3 not ready.
 *
 * JSON:   `command`, `status`, `exitCode`, `repaired`, `failed`, `failedIds` (a hundred at most), `causes` (why,
 *         each SQLSTATE with its constraint once), `remaining` (not tried), `error`
 */
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { outcomeOf } from "../../framework/outcome.ts";
import { standardScreen } from "../../framework/streams/screen.ts";
import { withLedgerDatabase } from "../../wiring/ledger/database.ts";

/** The command; see the head of this file. */
export const deliveriesRepair = defineCommand({
  meta: { name: "repair", description: "Write the timeline entries that sent deliveries lack" },
  account: "service",
  notes: "Works on any day and sends nothing.",
  args: { json: { type: "boolean", description: "Print the result as one line of JSON" } },
  example: "opsctl deliveries repair",

  async run(_args, context) {
    const interrupt = context.interrupted();
    return await withLedgerDatabase(context, "opsctl deliveries", async (sql) => {
      const { repairDeliveries } = await import("../../../lib/deliveries/repair.ts");
      const { renderRepair } = await import("../../../lib/deliveries/render.ts");
      const repair = await repairDeliveries(sql, { interrupt });
      const { bringLastRunUpToDate } = await import("../../wiring/ledger/last-run.ts");
      // Also when nothing was left to repair: the command that repaired it may have been killed before this.
      await bringLastRunUpToDate(sql, context);
      const isWhole = repair.failed === 0 && repair.remaining === 0;
      return outcomeOf({
        command: "deliveries repair",
        exitCode: isWhole ? EXIT.ok : EXIT.failed,
        fields: repair,
        text: renderRepair(repair, await standardScreen(context.env)),
      });
    });
  },
});
