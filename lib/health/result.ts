import { type Fix, inWords, type OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

/**
 * The result of one check: `not_set_up` is something that this host does not use, which is no fault; `fix` puts it right
 * or sets it up, null where nothing has to be done.
 *
 * Shape: `code` names the kind of problem, as docs/codes.md lists them; null for `pass` and `not_set_up`. Where an error
 *        of opsctl or an external service is behind the result, it is that error's code.
 */
export type CheckResult = (
  | { status: "pass" | "not_set_up"; code: null }
  | { status: "warn" | "fail"; code: string }
) & {
  reason: string;
  fix: Fix | null;
  /** Nothing was checked. */
  because?: "not_checked";
  /** This account may not look; root may. */
  needsRoot?: true;
  /** A warning about which nobody has to do anything today. */
  isNote?: true;
};

/**
 * The health of a part: its results, and the values behind them.
 *
 * Shape: `isOutdated` says that nothing is known to be wrong, and that nobody has checked lately.
 */
export type Health = { results: CheckResult[]; facts: object | null; isOutdated?: true };

/** A look at a part: `env` are the settings of its command. */
export type Look = { env: Environment; isSetUp: boolean; nowMs(): number };

/** A fix, or one in words alone. */
type Advice = Fix | string | null;

function fixOf(advice: Advice): Fix | null {
  return typeof advice === "string" ? inWords(advice) : advice;
}

/** A fix that is a command of the program; `text` says more, where that is needed. */
export function command(line: string, text: string | null = null): Fix {
  return { text, command: line };
}

/** Nothing is wrong. */
export function pass(reason: string): CheckResult {
  return { status: "pass", code: null, reason, fix: null };
}

/** It works, and a person should look. */
export function warn(code: string, reason: string, fix: Advice = null): CheckResult {
  return { status: "warn", code, reason, fix: fixOf(fix) };
}

/** It, or a part of it, does not work. */
export function fail(code: string, reason: string, fix: Advice = null): CheckResult {
  return { status: "fail", code, reason, fix: fixOf(fix) };
}

/** The failure that an error of opsctl means. */
export function failure({ code, message, hint }: Pick<OpsError, "code" | "message" | "hint">): CheckResult {
  const [first = ""] = message.split("\n");
  return fail(code, first, hint ?? null);
}

/** This host does not use it; `fix` sets it up. */
export function notSetUp(what: string, fix: Advice): CheckResult {
  return { status: "not_set_up", code: null, reason: `not set up: ${what}`, fix: fixOf(fix) };
}

/** It was not checked, which counts as a warning: neither as good nor as a fault. */
export function notChecked(code: string, reason: string, fix: Advice = null): CheckResult {
  return { ...warn(code, `not checked: ${reason}`, fix), because: "not_checked" };
}

/** A warning about which nobody has to do anything today. */
export function note(code: string, reason: string, fix: Advice = null): CheckResult {
  return { ...warn(code, reason, fix), isNote: true };
}

/** The health of a part with this one result. */
export function only(result: CheckResult, facts: object | null = null): Health {
  return { results: [result], facts };
}

/** The health of a part that this host does not use, which is no fault. */
export const NOT_SET_UP: Health = only({ status: "not_set_up", code: null, reason: "not set up", fix: null });

/** What sets the clock of a host right. */
export const SET_CLOCK = command("timedatectl set-ntp true");

/** How long something has lasted, for people: `12 s`, `3 min`, `5 h`, `2 days`; a clock a little ahead counts as now. */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** The reason as people read it: with the code that `opsctl explain` knows. */
export function reasonText({ reason, code, because }: CheckResult): string {
  return code === null || because === "not_checked" ? reason : `${reason} (${code})`;
}
