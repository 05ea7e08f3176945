import { type Fix, inWords } from "../platform/errors.ts";

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
 * What a check found: `not_set_up` is something that this host does not use, which is no fault; `fix` puts it right or
 * sets it up, null where nothing has to be done.
 *
 * Shape: `code` names the kind of problem, as docs/codes.md lists them. Where an error of opsctl or an external service
 *        is behind the finding, it is that error's code. `because` marks a warning that nothing was checked.
 *        `needsRoot` is there where this account may not look.
 */
export type Verdict = (
  | { status: "pass" | "not_set_up"; code: null }
  | { status: "warn" | "fail"; code: string }
) & { reason: string; fix: Fix | null; because?: "not_checked"; needsRoot?: true };

/** A verdict with its command and its check. */
export type Finding = { command: CommandName; check: string } & Verdict;

/** A fix, or one in words alone. */
type Advice = Fix | string | null;

const fixOf = (advice: Advice): Fix | null => (typeof advice === "string" ? inWords(advice) : advice);

/** A fix that is a command of the program; `text` says more, where that is needed. */
export function command(line: string, text: string | null = null): Fix {
  return { text, command: line };
}

/** The command has what it needs. */
export function pass(reason: string): Verdict {
  return { status: "pass", code: null, reason, fix: null };
}

/** The command works, and a person should look. */
export function warn(code: string, reason: string, fix: Advice = null): Verdict {
  return { status: "warn", code, reason, fix: fixOf(fix) };
}

/** The command, or a part of it, does not work. */
export function fail(code: string, reason: string, fix: Advice = null): Verdict {
  return { status: "fail", code, reason, fix: fixOf(fix) };
}

/** This host does not use it; `fix` sets it up. */
export function notSetUp(what: string, fix: Advice): Verdict {
  return { status: "not_set_up", code: null, reason: `not set up: ${what}`, fix: fixOf(fix) };
}

/** It was not checked, which counts as a warning: neither as good nor as a fault. */
export function notChecked(code: string, reason: string, fix: Advice = null): Verdict {
  return { ...warn(code, `not checked: ${reason}`, fix), because: "not_checked" };
}

/** What sets the clock of a host right. */
export const SET_CLOCK = command("timedatectl set-ntp true");

/** What only the run of a Monday does. */
export const NEXT_MONDAY = command(
  "opsctl weekly --dry-run",
  "The run of a Monday makes it; on any day this proves what that run needs:",
);
