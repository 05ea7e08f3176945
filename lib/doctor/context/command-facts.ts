import { KNOWN_SECRETS } from "../../platform/config/known-secrets.ts";
import { SERVICE_ACCOUNT } from "../../platform/privileges.ts";
import type { CommandName } from "../finding.ts";

/**
 * What is fixed about a command on a host.
 *
 * Shape: `account` runs it, null for the person at the terminal; `cron` says how cron starts it, null for a command that
 *        cron does not start.
 */
export type CommandFact = {
  account: string | null;
  cron: CronFact | null;
};

/** At which times cron has to start a command: at exactly these, or at least this often. */
export type CronFact = { schedule: string; everyMinutes: number | null };

/** The facts of each command. */
export const COMMAND_FACTS: Record<CommandName, CommandFact> = {
  weekly: { account: SERVICE_ACCOUNT, cron: { schedule: "0 11 * * 1", everyMinutes: null } },
  webhook: { account: SERVICE_ACCOUNT, cron: null },
  "collect-metrics": {
    account: "root",
    cron: { schedule: "* * * * *", everyMinutes: 1 },
  },
  "socket-monitor": {
    account: SERVICE_ACCOUNT,
    cron: { schedule: "*/5 * * * *", everyMinutes: 5 },
  },
  "alert-rules": { account: null, cron: null },
  migrate: { account: null, cron: null },
  reports: { account: null, cron: null },
  deliveries: { account: null, cron: null },
};

/** The secrets of a command. */
export function secretsOf(command: CommandName) {
  return KNOWN_SECRETS.filter(({ usedBy }) => usedBy.some((use) => use.command === command));
}
