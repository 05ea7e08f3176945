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

/**
 * What a check found: `not_set_up` is something that this host does not use, which is no fault; `mend` is the command or
 * line that puts it right or sets it up, null where nothing has to be done.
 */
export type Verdict = {
  status: "pass" | "warn" | "fail" | "not_set_up";
  reason: string;
  mend: string | null;
};

/** A verdict with its command and its check. */
export type Finding = { command: CommandName; check: string } & Verdict;

/** The command has what it needs. */
export function pass(reason: string): Verdict {
  return { status: "pass", reason, mend: null };
}

/** The command works, and a person should look. */
export function warn(reason: string, mend: string | null = null): Verdict {
  return { status: "warn", reason, mend };
}

/** The command, or a part of it, does not work. */
export function fail(reason: string, mend: string | null = null): Verdict {
  return { status: "fail", reason, mend };
}

/** This host does not use it; `mend` sets it up. */
export function notSetUp(what: string, mend: string): Verdict {
  return { status: "not_set_up", reason: `not set up: ${what}`, mend };
}

/** It was not checked, which counts as a warning: neither as good nor as a fault. */
export function notChecked(reason: string, mend: string | null = null): Verdict {
  return warn(`not checked: ${reason}`, mend);
}
