/** The commands whose needs are checked. */
export const DOCTOR_COMMANDS = [
  "weekly",
  "webhook",
  "collect-metrics",
  "socket-monitor",
  "alert-rules",
  "migrate",
  "deliveries",
] as const;

/** One of these commands. */
export type CommandName = (typeof DOCTOR_COMMANDS)[number];

/** What was found: `mend` is the command or the line that puts it right, null where nothing has to be. */
export type Verdict = { status: "pass" | "warn" | "fail"; reason: string; mend: string | null };

/** A verdict with the command that needs it and the check that found it. */
export type Finding = { command: CommandName; check: string } & Verdict;

/** It is as the command needs it. */
export function pass(reason: string): Verdict {
  return { status: "pass", reason, mend: null };
}

/** The command works, and somebody should look. */
export function warn(reason: string, mend: string | null = null): Verdict {
  return { status: "warn", reason, mend };
}

/** The command, or a part of it, does not work. */
export function fail(reason: string, mend: string | null = null): Verdict {
  return { status: "fail", reason, mend };
}

/** Nobody looked: never counted as well, and never as a fault. */
export function notChecked(reason: string, mend: string | null = null): Verdict {
  return warn(`not checked: ${reason}`, mend);
}
