/**
 * `opsctl deliveries repair`: writes the timeline entries that sent deliveries lack (`partial`).
 *
 * Writes: the missing entries of `timeline_entries`, once each, and that the delivery lacks nothing any more; then what
 *         is open in this host's last-run file.
 * JSON:   `repaired`, `failed`, `failedIds` (a hundred at most), `causes` (why, each SQLSTATE with its constraint once),
 *         `remaining` (not tried).
 */
import { defineCommand } from "../../framework/command.ts";
import { EXIT } from "../../framework/exit-status.ts";
import { bringLastRunUpToDate, withLedgerDatabase } from "../../wiring/ledger/database.ts";

/** The command; see the head of this file. */
export const deliveriesRepair = defineCommand({
  account: "service",
  notes: "Works on any day and sends nothing.",
  args: {},
  example: "opsctl deliveries repair",

  run(_args, context) {
    const interrupt = context.interrupted();
    return withLedgerDatabase(context, "opsctl deliveries", async (sql) => {
      const { repairDeliveries } = await import("../../../lib/deliveries/repair.ts");
      const { renderRepair } = await import("../../../lib/deliveries/render.ts");
      const repair = await repairDeliveries(sql, { interrupt });
      // Also when nothing was left to repair: the command that repaired it may have been killed before this.
      await bringLastRunUpToDate(sql, context);
      const isWhole = repair.failed === 0 && repair.remaining === 0;
      return {
        exitCode: isWhole ? EXIT.ok : EXIT.failed,
        fields: repair,
        text: (screen) => renderRepair(repair, screen),
      };
    });
  },
});
