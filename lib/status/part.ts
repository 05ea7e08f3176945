import { type CheckResult, fail, type Health, isProblem, needsDoctor, reasonText } from "../health/result.ts";
import type { PartName } from "../host/set-up.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { StatusDependencies, Viewer } from "./dependencies.ts";

/**
 * What status shows of a part.
 *
 * Shape: `attention` is a part that needs a person, `unknown` one that this account cannot see into, `outdated` one that
 *        was fine and was not checked for a long time, which is no fault; `next` is the command that comes next, null
 *        where none is needed; `facts` are the values behind the lines, null where none are known.
 */
export type PartReport = {
  status: "ok" | "attention" | "unknown" | "outdated" | "not_set_up";
  lines: string[];
  next: string | null;
  facts: object | null;
};

/** A report with the name of its part. */
export type NamedReport = { part: PartName } & PartReport;

/** The command whose needs doctor checks, for each part. */
const COMMANDS: Record<PartName, string> = {
  ...{ weekly: "weekly", webhook: "webhook", collector: "collect-metrics" },
  ...{ "socket-monitor": "socket-monitor", "alert-rules": "alert-rules" },
};

/** The report on a part of this health; its commands find the settings that this process finds. */
export function reportOf(part: PartName, health: Health, env: Environment): NamedReport {
  const { status, command } = stateOf(health, COMMANDS[part]);
  const isForRoot = command !== null && /^opsctl (?!explain )/.test(command);
  return {
    part,
    status,
    lines: health.lines.map((results) => results.map(reasonText).join("; ")),
    next: isForRoot ? sudoLine(command.slice("opsctl ".length), env) : command,
    facts: health.facts,
  };
}

/** The state of the part, by its worst result, and the command with which a person begins. */
function stateOf(
  { lines, isOutdated }: Health,
  part: string,
): { status: PartReport["status"]; command: string | null } {
  const results = lines.flat();
  if (results.every(({ status }) => status === "not_set_up")) return { status: "not_set_up", command: null };
  if (results.some((result) => result.needsRoot)) return { status: "unknown", command: "opsctl status" };
  const problem = results.find(({ status }) => status === "fail") ?? results.find(isProblem);
  if (problem === undefined)
    return isOutdated
      ? { status: "outdated", command: results[0]?.fix?.command ?? null }
      : { status: "ok", command: null };
  const own = problem.needsDoctor ? null : (problem.fix?.command ?? null);
  return { status: "attention", command: own ?? `opsctl doctor ${part}` };
}

/** The health of a part of which nothing but this is known. */
export function onlyHealth(result: CheckResult): Health {
  return { lines: [[result]], facts: null };
}

/** The health of a part that this host does not use, which is no fault. */
export const NOT_SET_UP: Health = onlyHealth({
  ...{ status: "not_set_up", code: null },
  ...{ reason: "not set up", fix: null },
});

/** The result of a reading that did not end in time. */
export const LATE = needsDoctor(fail("CHECK_TIMED_OUT", "did not answer in time"));

/** The result where the settings name a log directory that every command refuses. */
export const NO_LOG_DIR = needsDoctor(fail("CONFIG_INVALID", "OPSCTL_LOG_DIR is no absolute path"));

/** The errors that only mean that this account may not look. */
const CLOSED: readonly string[] = ["SECRET_FILE_UNREADABLE", "SECRET_FILE_UNTRUSTED", "EACCES", "EPERM"];

/** The health of a part of which `what` could not be read; the service account must be able to read everything. */
export function unreadable(what: string, code: string, viewer: Viewer): Health {
  const result = fail(code, `${what} cannot be read`);
  if (viewer === "service" || !CLOSED.includes(code)) return onlyHealth(needsDoctor(result));
  if (code === "SECRET_FILE_UNTRUSTED") return onlyHealth({ ...result, needsRoot: true });
  const reason = `${result.reason} by this account`;
  return onlyHealth({ ...result, reason, because: "not_checked", needsRoot: true });
}

/** The settings of a command as its own start has them, or the error's code. */
export type PartSettings = { status: "read"; env: Environment } | { status: "failed"; code: string };

/** Reads the settings of a command. */
export function settingsOf(command: string, { env }: Pick<StatusDependencies, "env">): PartSettings {
  try {
    return { status: "read", env: readCommandSettings(command, env).env };
  } catch (error) {
    if (error instanceof OpsError) return { status: "failed", code: error.code };
    throw error;
  }
}
