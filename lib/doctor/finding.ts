import type { CheckResult } from "../health/result.ts";
import type { Fix } from "../platform/errors.ts";

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

/** A result with its command and its check. */
export type Finding = { command: CommandName; check: string } & CheckResult;

/**
 * A fix at a path: in words, and with its command where the path is that of an installation.
 *
 * Shape:     `installed` are the paths of the program for this very purpose: a setting of the account may name any other,
 *            also a file of root's.
 */
export function fixAt(
  path: string,
  installed: readonly string[],
  text: string,
  line: (path: string) => string,
): Fix {
  const known = installed.find((one) => one === path);
  return { text, command: known === undefined ? null : line(known) };
}
