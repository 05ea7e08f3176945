import { KNOWN_SECRETS } from "../../platform/config/known-secrets.ts";
import { SERVICE_ACCOUNT } from "../../platform/privileges.ts";
import type { CommandName } from "../finding.ts";

/**
 * What is fixed about a command on a host.
 *
 * Shape: `account` runs it, null for the person at the terminal; `cronLine` matches its line of the cron file, null for
 *        a command that cron does not start.
 */
export type CommandFact = {
  account: string | null;
  cronLine: RegExp | null;
};

/** The facts of each command. */
export const COMMAND_FACTS: Record<CommandName, CommandFact> = {
  weekly: { account: SERVICE_ACCOUNT, cronLine: /^0 11 \* \* 1\s+opsctl\s.*\bopsctl weekly --json\b/ },
  webhook: { account: SERVICE_ACCOUNT, cronLine: null },
  "collect-metrics": {
    account: "root",
    cronLine: /^(?:\*|\*\/1) \* \* \* \*\s+root\s.*\bopsctl collect-metrics\b/,
  },
  "socket-monitor": {
    account: SERVICE_ACCOUNT,
    cronLine: /^\*\/5 \* \* \* \*\s+opsctl\s.*\bopsctl socket-monitor\b/,
  },
  "alert-rules": { account: null, cronLine: null },
  migrate: { account: null, cronLine: null },
  reports: { account: null, cronLine: null },
  deliveries: { account: null, cronLine: null },
};

/** The secrets of a command. */
export function secretsOf(command: CommandName) {
  return KNOWN_SECRETS.filter(({ usedBy }) => usedBy.some((use) => use.command === command));
}
