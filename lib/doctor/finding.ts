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
 * Shape: `code` names the kind of problem, as docs/codes.md lists them; null for `pass` and `not_set_up`. Where an error
 *        of opsctl or a peer is behind the finding, it is that error's code.
 *        `because` is there for a warning of a kind that programs tell apart: nothing was checked, or no run has been
 *        yet, which only a Monday changes.
 */
export type Verdict = {
  status: "pass" | "warn" | "fail" | "not_set_up";
  code: string | null;
  reason: string;
  mend: string | null;
  because?: Because;
};

/** The kinds of warning that programs tell apart. */
export const BECAUSE = ["not_checked", "no_run_yet"] as const;

/** One of these kinds. */
export type Because = (typeof BECAUSE)[number];

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

/**
 * No run has ended in full success yet.
 *
 * Behaviour: no fault of a new host, and nothing but a Monday mends it: every other step comes before it.
 */
export function noRunYet(reason: string): Verdict {
  return { ...warn("NO_RUN_YET", reason, NEXT_MONDAY), because: "no_run_yet" };
}
