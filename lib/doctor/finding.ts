import type { CheckResult } from "../health/result.ts";

export * from "../health/result.ts";

/** The commands whose needs are checked. */
export const DOCTOR_COMMANDS = [
  "weekly",
  "webhook",
  "collect-metrics",
  "socket-monitor",
  "alert-rules",
  "migrate",
  "reports",
  "deliveries",
] as const;

/** One of these commands. */
export type CommandName = (typeof DOCTOR_COMMANDS)[number];

/** The result of a check. */
export type Verdict = CheckResult;

/** A result with its command and its check. */
export type Finding = { command: CommandName; check: string } & CheckResult;
