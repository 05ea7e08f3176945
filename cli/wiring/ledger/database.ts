import type { ParsedArgs } from "citty";
import type postgres from "postgres";
import type { Options } from "../../args/options.ts";
import {
  type Command,
  type CommandContext,
  type CommandParts,
  defineCommand,
  type Outcome,
} from "../../framework/command.ts";

type LedgerCommand = "reports" | "deliveries";
type LedgerParts<T extends Options> = Omit<CommandParts<T>, "run"> & {
  act: (sql: postgres.Sql, args: ParsedArgs<T>, context: CommandContext) => Promise<Outcome>;
};

/** Declares a command that reads or changes the ledger: `act` gets the database, which is closed when it has ended. */
export function ledgerCommand<const T extends Options>(
  command: LedgerCommand,
  { act, ...parts }: LedgerParts<T>,
): Command {
  const run: CommandParts<T>["run"] = (args, context) =>
    withLedgerDatabase(command, context, (sql) => act(sql, args, context));
  return defineCommand<T>({ ...parts, run } as unknown as CommandParts<T>);
}

/**
 * Opens the database of DATABASE_URL, and closes it when `use` has ended.
 *
 * Errors: those of `loadSettings`, `openDatabase` and `use`.
 */
export async function withLedgerDatabase(
  command: LedgerCommand,
  { env }: Pick<CommandContext, "env">,
  use: (sql: postgres.Sql) => Promise<Outcome>,
): Promise<Outcome> {
  const { loadSettings } = await import("../../../lib/platform/config/load.ts");
  const { DATABASE_URL } = await loadSettings(command, { required: ["DATABASE_URL"] }, env);
  const { openDatabase } = await import("../../../lib/platform/database/pool.ts");
  const database = await openDatabase(DATABASE_URL, { max: 1, applicationName: "opsctl" });
  try {
    return await use(database.sql);
  } finally {
    await database.close();
  }
}

/** Brings this host's last-run file up to date after a command has changed the ledger; a failure is only logged. */
export async function bringLastRunUpToDate(
  sql: postgres.Sql,
  { env, log }: Pick<CommandContext, "env" | "log">,
): Promise<void> {
  const [{ refreshLastRun }, { readWeekState }, { logDirectory }] = await Promise.all([
    import("../../../lib/last-run/refresh.ts"),
    import("../../../lib/ledger/week-state.ts"),
    import("../../../lib/platform/config/directories.ts"),
  ]);
  const logDir = await logDirectory("deliveries", env);
  if (logDir === null) return;
  const failed = { status: "failed", code: "DATABASE_QUERY_FAILED" } as const;
  const refreshed = await refreshLastRun(logDir, (window) => readWeekState(sql, window)).catch(() => failed);
  if (refreshed.status !== "failed") return;
  const fields = { code: "LAST_RUN_UNWRITABLE", cause: refreshed.code, logDir };
  log.warn("The record of the last weekly run on this host could not be brought up to date", fields);
}
