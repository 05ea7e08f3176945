import type { CheckResult } from "../health/result.ts";
import type { SettingsCommand } from "../platform/config/settings-table.ts";
import { SERVICE_ACCOUNT } from "../platform/privileges.ts";

/** A command whose needs are checked. */
export type CommandName = SettingsCommand;

/** A result with its command and its check. */
export type Finding = { command: CommandName; check: string } & CheckResult;

/** At which times cron has to start a command: at exactly these, or at least this often. */
export type CronFact = { schedule: string; everyMinutes: number | null };

/** The account that runs a command, null for the person at the terminal, and how cron starts it. */
export type CommandFact = { account: string | null; cron: CronFact | null };

const BY_HAND: CommandFact = { account: null, cron: null };

/** The facts of each command. */
export const COMMAND_FACTS: Record<CommandName, CommandFact> = {
  weekly: { account: SERVICE_ACCOUNT, cron: { schedule: "0 11 * * 1", everyMinutes: null } },
  webhook: { account: SERVICE_ACCOUNT, cron: null },
  "collect-metrics": { account: "root", cron: { schedule: "* * * * *", everyMinutes: 1 } },
  "socket-monitor": { account: SERVICE_ACCOUNT, cron: { schedule: "*/5 * * * *", everyMinutes: 5 } },
  ...{ "alert-rules": BY_HAND, migrate: BY_HAND, reports: BY_HAND, deliveries: BY_HAND },
};
