import type { CheckResult } from "../health/result.ts";
import type { SettingsCommand } from "../platform/config/settings-table.ts";

export * from "../health/result.ts";

/** A command whose needs are checked. */
export type CommandName = SettingsCommand;

/** These commands, in the order in which they are shown. */
export const DOCTOR_COMMANDS: readonly CommandName[] = [
  ...(["weekly", "webhook", "collect-metrics", "socket-monitor"] as const),
  ...(["alert-rules", "migrate", "reports", "deliveries"] as const),
];

/** A result with its command and its check. */
export type Finding = { command: CommandName; check: string } & CheckResult;
