import { type CheckResult, fail, failure, type Health, only, reasonText } from "../health/result.ts";
import { PARTS, type PartName } from "../host/set-up.ts";
import { PART_OF } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { OpsError } from "../platform/errors.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import { withTimeout } from "../platform/timeout.ts";
import type { StatusDependencies } from "./dependencies.ts";
import { READ } from "./parts.ts";

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

/** The errors that only mean that this account may not look. */
const CLOSED: readonly string[] = ["SECRET_FILE_UNREADABLE", "EACCES", "EPERM"];

/**
 * Looks at all parts of this host at the same time, each within its own limit.
 *
 * Errors: none thrown; a part that throws needs a person.
 */
export async function readStatus(dependencies: StatusDependencies): Promise<NamedReport[]> {
  return await Promise.all(
    PARTS.map(async (part) => reportOf(part, await healthOf(part, dependencies), dependencies.env)),
  );
}

/** Whether all is well with what is set up, as far as it was seen. */
export function isAllWell(reports: readonly NamedReport[]): boolean {
  return reports.every(({ status }) => status !== "attention" && status !== "unknown");
}

async function healthOf(part: PartName, dependencies: StatusDependencies): Promise<Health> {
  const { limitMs } = dependencies;
  try {
    const late = () => only(fail("CHECK_TIMED_OUT", "did not answer in time"));
    return await withTimeout({ limitMs }, (signal) => READ[part](dependencies, signal), late);
  } catch (error) {
    return only(unread(error, dependencies));
  }
}

/** The result where a part cannot be read; the message of an engine or a library may quote data. */
function unread(error: unknown, { isPrivileged }: StatusDependencies): CheckResult {
  const { name, code: found } = Object(error) as { name?: string; code?: unknown };
  const code = typeof found === "string" ? found : "CHECK_FAILED";
  const what = error instanceof OpsError ? "its settings cannot be read" : "what it left cannot be read";
  if (CLOSED.includes(code) && !isPrivileged)
    return { ...fail(code, `${what} by this account`), because: "not_checked", needsRoot: true };
  if (error instanceof OpsError) return failure(error);
  return fail(code, code === "CHECK_FAILED" ? `the check ended with an error: ${name}` : what);
}

/** The report on a part of this health: what is well in one line, then each problem; commands find this process's settings. */
export function reportOf(part: PartName, health: Health, env: Environment): NamedReport {
  const { status, command } = stateOf(health, part);
  const isForRoot = command !== null && /^opsctl (?!explain )/.test(command);
  const well = health.results.filter((result) => result.code === null).map(reasonText);
  const problems = health.results.filter((result) => result.code !== null).map(reasonText);
  return {
    ...{ part, status, lines: [...(well.length === 0 ? [] : [well.join("; ")]), ...problems] },
    next: isForRoot ? sudoLine(command.slice("opsctl ".length), env) : command,
    facts: health.facts,
  };
}

/** The state of the part, by its worst result, and the command with which a person begins. */
function stateOf(
  { results, isOutdated }: Health,
  part: PartName,
): { status: PartReport["status"]; command: string | null } {
  if (results.every(({ status }) => status === "not_set_up")) return { status: "not_set_up", command: null };
  if (results.some(({ needsRoot }) => needsRoot)) return { status: "unknown", command: "opsctl status" };
  const problem =
    results.find(({ status }) => status === "fail") ??
    results.find(({ status, isNote }) => status === "warn" && isNote !== true);
  if (problem !== undefined) {
    const of = Object.entries(PART_OF).find(([, one]) => one === part)?.[0];
    return { status: "attention", command: problem.fix?.command ?? `opsctl doctor ${of}` };
  }
  return isOutdated
    ? { status: "outdated", command: results[0]?.fix?.command ?? null }
    : { status: "ok", command: null };
}
