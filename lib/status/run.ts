import { readHealth } from "../health/part.ts";
import {
  type CheckResult,
  fail,
  failure,
  type Health,
  notChecked,
  only,
  reasonText,
} from "../health/result.ts";
import { type Ledger, readLedger } from "../health/weekly.ts";
import { isSetUp } from "../host/set-up.ts";
import { readCommandSettings } from "../platform/config/settings-file.ts";
import { commandOf, PARTS, type PartName } from "../platform/config/settings-table.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { classifyDatabaseError } from "../platform/database/error.ts";
import type { Database } from "../platform/database/pool.ts";
import { OpsError, onlyOpsError } from "../platform/errors.ts";
import { type Environment, findSecret } from "../platform/secrets/adapter.ts";
import type { Secret } from "../platform/secrets/secret.ts";
import { withTimeout } from "../platform/timeout.ts";

/** Where the collector writes, and whether it is set up, or why its settings, which are root's, cannot be used. */
export type CollectorPlace = { env: Environment; isSetUp: boolean } | OpsError;

/**
 * What a look at the host uses.
 *
 * Shape: `env` is the environment of this process without any settings file; `isPrivileged` says that this process may
 *        read all that the parts left, so that what it cannot read is a fault; `collector` is what root read of it before
 *        it became the account, null where it was not root.
 * Units: `limitMs` is the time of each part; `databaseLimitMs`, of the database and of the command that gets its address,
 *        is shorter.
 */
export type StatusDependencies = {
  env: Environment;
  isPrivileged: boolean;
  collector: CollectorPlace | null;
  limitMs: number;
  databaseLimitMs: number;
  nowMs(): number;
  openDatabase(url: Secret): Promise<Database>;
};

/**
 * What status shows of a part.
 *
 * Shape: `attention` is a part that needs a person, `unknown` one that this account cannot see into, `outdated` one that
 *        was fine and was not checked for a long time, which is no fault; `next` is the command that comes next, null
 *        where none is needed; `facts` are the values behind the lines, null where none are known.
 */
export type PartReport = {
  part: PartName;
  status: "ok" | "attention" | "unknown" | "outdated" | "not_set_up";
  lines: string[];
  next: string | null;
  facts: object | null;
};

/**
 * Looks at all parts of this host at the same time, each within its own limit.
 *
 * Errors: none thrown; a part that throws needs a person.
 */
export async function readStatus(dependencies: StatusDependencies): Promise<PartReport[]> {
  return await Promise.all(
    PARTS.map(async (part) => reportOf(part, await healthOf(part, dependencies), dependencies)),
  );
}

/** Whether all is well with what is set up, as far as it was seen. */
export function isAllWell(reports: readonly PartReport[]): boolean {
  return reports.every(({ status }) => status !== "attention" && status !== "unknown");
}

/** Finds where the collector writes, in its settings, which belong to root. */
export function findCollector(own: Environment): CollectorPlace {
  try {
    const { env } = readCommandSettings("collect-metrics", own);
    return { env: { TEXTFILE_DIR: env.TEXTFILE_DIR }, isSetUp: isSetUp("collector", env) };
  } catch (error) {
    return onlyOpsError(error);
  }
}

async function healthOf(part: PartName, dependencies: StatusDependencies): Promise<Health> {
  const late = () => only(fail("CHECK_TIMED_OUT", "did not answer in time"));
  try {
    const { limitMs } = dependencies;
    return await withTimeout({ limitMs }, (signal) => lookAt(part, dependencies, signal), late);
  } catch (error) {
    return only(unread(error, dependencies));
  }
}

async function lookAt(
  part: PartName,
  dependencies: StatusDependencies,
  signal: AbortSignal,
): Promise<Health> {
  const { env: own, limitMs, databaseLimitMs: commandLimitMs, nowMs } = dependencies;
  const look = async (env: Environment, isUsed: boolean, url?: Secret) => {
    // The limit of the call is the later one: a port that hangs is not one where nothing listens.
    const calls = { limitMs: 6 * limitMs, nowMs, readLedger: () => ledgerOf(url, dependencies) };
    return await readHealth(part, { ...calls, env, isSetUp: isUsed }, signal);
  };
  if (part === "collector") {
    const place = dependencies.collector ?? findCollector(own);
    if (!(place instanceof OpsError)) return await look(place.env, place.isSetUp);
    const health = await look(own, false);
    if (health.facts === null) throw place;
    return health;
  }
  const { env } = readCommandSettings(commandOf(part), own);
  const found = part === "weekly" ? await findSecret(env, "DATABASE_URL", { commandLimitMs }) : undefined;
  return await look(env, found !== undefined || isSetUp(part, env), found?.secret);
}

async function ledgerOf(url: Secret | undefined, dependencies: StatusDependencies): Promise<Ledger> {
  const { openDatabase, databaseLimitMs } = dependencies;
  if (url === undefined) return { week: null, problem: fail("CONFIG_INVALID", "DATABASE_URL is missing") };
  return await readLedger(async (read) => {
    try {
      const database = await openDatabase(url);
      return await read(database.sql).finally(() => void database.close().catch(() => {}));
    } catch (error) {
      // Only the code: the message of the engine may quote data.
      const { code } = error instanceof OpsError ? error : classifyDatabaseError(error);
      return [fail(code, "the database cannot be read")];
    }
  }, databaseLimitMs);
}

/** The result where a part cannot be read; the message of an engine or a library may quote data. */
function unread(error: unknown, { isPrivileged }: StatusDependencies): CheckResult {
  if (!(error instanceof OpsError))
    return fail("CHECK_FAILED", `the check ended with an error: ${Object(error).name}`);
  if (error.code !== "SECRET_FILE_UNREADABLE" || isPrivileged) return failure(error);
  return { ...notChecked(error.code, "its settings cannot be read by this account"), needsRoot: true };
}

/** The report on a part of this health: what is well in one line, then each problem; commands find this process's settings. */
function reportOf(part: PartName, health: Health, { env, isPrivileged }: StatusDependencies): PartReport {
  const { status, command } = stateOf(health, part, isPrivileged);
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
  isPrivileged: boolean,
): { status: PartReport["status"]; command: string | null } {
  if (results.every(({ status }) => status === "not_set_up")) return { status: "not_set_up", command: null };
  if (!isPrivileged && results.some(({ needsRoot }) => needsRoot))
    return { status: "unknown", command: "opsctl status" };
  const problem =
    results.find(({ status }) => status === "fail") ??
    results.find(({ status, isNote }) => status === "warn" && isNote !== true);
  if (problem !== undefined)
    return { status: "attention", command: problem.fix?.command ?? `opsctl doctor ${commandOf(part)}` };
  return isOutdated
    ? { status: "outdated", command: results[0]?.fix?.command ?? null }
    : { status: "ok", command: null };
}
