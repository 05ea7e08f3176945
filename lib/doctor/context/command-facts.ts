import { OWNER_VARIABLE } from "../../platform/config/settings/owner-login.ts";
import { SERVICE_ACCOUNT } from "../../platform/privileges.ts";
import { EDITORIAL_ALIAS } from "../../weekly/config.ts";
import type { CommandName } from "../finding.ts";

/** A secret of a command; only the one of the editorials is never taken from the environment. */
export type SecretFact = { name: string; fromEnvironment: boolean };

/**
 * What is fixed about a command on a host.
 *
 * Shape: `account` runs it, null for the person at the terminal; `cronLine` matches its line of the cron file, null for
 *        a command that cron does not start.
 */
export type CommandFact = {
  account: string | null;
  secrets: readonly SecretFact[];
  cronLine: RegExp | null;
};

const secrets = (...names: string[]): SecretFact[] => names.map((name) => ({ name, fromEnvironment: true }));

/** The facts of each command. */
export const COMMAND_FACTS: Record<CommandName, CommandFact> = {
  weekly: {
    account: SERVICE_ACCOUNT,
    secrets: [
      ...secrets("DATABASE_URL", "TRIGGER_SECRET", "GATEWAY_ADMIN_KEY", "EMAIL_API_KEY", "WEBHOOK_SECRET"),
      { name: EDITORIAL_ALIAS, fromEnvironment: false },
    ],
    cronLine: /^0 11 \* \* 1\s+opsctl\s.*\bopsctl weekly --json\b/,
  },
  webhook: {
    account: SERVICE_ACCOUNT,
    secrets: secrets(
      ...["WEBHOOK_SECRET", "WEBHOOK_SECRET_PREVIOUS", "MESSAGING_API_KEY", "ISSUE_TRACKER_TOKEN"],
      "OPSCTL_STATE_URL",
      "ALERT_EMAIL_API_KEY",
    ),
    cronLine: null,
  },
  "collect-metrics": {
    account: "root",
    secrets: secrets("HOSTING_TOKEN"),
    cronLine: /^(?:\*|\*\/1) \* \* \* \*\s+root\s.*\bopsctl collect-metrics\b/,
  },
  "socket-monitor": {
    account: SERVICE_ACCOUNT,
    secrets: secrets("MESSAGING_API_KEY"),
    cronLine: /^\*\/5 \* \* \* \*\s+opsctl\s.*\bopsctl socket-monitor\b/,
  },
  "alert-rules": { account: null, secrets: secrets("MONITORING_TOKEN"), cronLine: null },
  migrate: { account: null, secrets: secrets(OWNER_VARIABLE, "DATABASE_URL"), cronLine: null },
  reports: { account: null, secrets: secrets("DATABASE_URL"), cronLine: null },
  deliveries: {
    account: null,
    secrets: secrets("DATABASE_URL", "GATEWAY_ADMIN_KEY", "EMAIL_API_KEY", "EMAIL_READ_API_KEY"),
    cronLine: null,
  },
};
