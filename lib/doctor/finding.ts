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
 * What a check found: `not_set_up` is something that this host does not use, which is no fault; `mend` is the command
 * or line that puts it right or sets it up, null where nothing has to be done.
 *
 * Shape: `code` names the kind of problem, as docs/codes.md lists them. Where an error of opsctl or a peer is behind the
 *        finding, it is that error's code. `because` marks a warning that nothing was checked.
 */
export type Verdict = (
  | { status: "pass" | "not_set_up"; code: null }
  | { status: "warn" | "fail"; code: string }
) & { reason: string; mend: string | null; because?: "not_checked" };

/** A verdict with its command and its check. */
export type Finding = { command: CommandName; check: string } & Verdict;

/** The command has what it needs. */
export function pass(reason: string): Verdict {
  return { status: "pass", code: null, reason, mend: null };
}

/** The command works, and a person should look. */
export function warn(code: string, reason: string, mend: string | null = null): Verdict {
  return { status: "warn", code, reason, mend };
}

/** The command, or a part of it, does not work. */
export function fail(code: string, reason: string, mend: string | null = null): Verdict {
  return { status: "fail", code, reason, mend };
}

/** This host does not use it; `mend` sets it up. */
export function notSetUp(what: string, mend: string): Verdict {
  return { status: "not_set_up", code: null, reason: `not set up: ${what}`, mend };
}

/** It was not checked, which counts as a warning: neither as good nor as a fault. */
export function notChecked(code: string, reason: string, mend: string | null = null): Verdict {
  return { ...warn(code, `not checked: ${reason}`, mend), because: "not_checked" };
}

/** What sets the clock of a host right. */
export const SET_CLOCK = "timedatectl set-ntp true";

/** What only the run of a Monday does. */
export const NEXT_MONDAY =
  "The run of a Monday makes it; opsctl weekly --dry-run proves on any day what that run needs";
