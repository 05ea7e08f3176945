import type postgres from "postgres";
import { refreshLastRun } from "../../../lib/last-run/refresh.ts";
import { readWeekState } from "../../../lib/ledger/week-state.ts";
import { logDirectory } from "../../../lib/platform/config/settings/log-directory.ts";
import type { CommandContext } from "../../framework/command.ts";

/**
 * Brings this host's last-run file up to date after a command has changed the ledger.
 *
 * Errors: none thrown: what the command did is done. A file that cannot be brought up to date is logged.
 */
export async function bringLastRunUpToDate(
  sql: postgres.Sql,
  { env, log }: Pick<CommandContext, "env" | "log">,
): Promise<void> {
  const logDir = await logDirectory(env);
  if (logDir === null) return;
  const refreshed = await refreshLastRun(logDir, (window) => readWeekState(sql, window)).catch(
    (): { status: "failed"; code: string } => ({ status: "failed", code: "DATABASE_QUERY_FAILED" }),
  );
  if (refreshed.status !== "failed") return;
  log.warn("The record of the last weekly run on this host could not be brought up to date", {
    code: "LAST_RUN_UNWRITABLE",
    cause: refreshed.code,
    logDir,
  });
}
