import { stat } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import { command, fail, type Health, needsDoctor } from "../health/result.ts";
import { healthWithoutLedger, weeklyHealth } from "../health/weekly.ts";
import { HEARTBEAT_FILE } from "../host/heartbeat-file-name.ts";
import { isSetUp } from "../host/set-up.ts";
import { LAST_RUN_FILE, LAST_RUN_MAX_BYTES } from "../last-run/file-name.ts";
import { hasWorked } from "../last-run/has-worked.ts";
import { type LastRunReading, readingOf } from "../last-run/read.ts";
import { readOnly } from "../ledger/read-only.ts";
import { logDirectory } from "../platform/config/directories.ts";
import { classifyDatabaseError } from "../platform/database/error.ts";
import { OpsError } from "../platform/errors.ts";
import { type Environment, findSecret } from "../platform/secrets/adapter.ts";
import { type LedgerWeek, readLedgerWeek } from "../reports/ledger-week.ts";
import { checkReadiness } from "../schema/readiness.ts";
import type { StatusDependencies } from "./dependencies.ts";
import { LATE, NO_LOG_DIR, NOT_SET_UP, onlyHealth, settingsOf, unreadable } from "./part.ts";
import { readFileInTime, readInTime } from "./reading.ts";

const NOT_MIGRATED = "DATABASE_NOT_MIGRATED";
const SECRET_CLOSED: readonly string[] = ["SECRET_FILE_UNREADABLE", "SECRET_FILE_UNTRUSTED"];

/** The health of the weekly run by the ledger and by what this host's last run left, each read within its own time. */
export async function weeklyStatus(dependencies: StatusDependencies): Promise<Health> {
  const { viewer } = dependencies;
  const nowMs = dependencies.nowMs();
  const settings = settingsOf("weekly", dependencies);
  if (settings.status === "failed") return unreadable("its settings", settings.code, viewer);
  const logDir = await logDirectory(settings.env);
  if (logDir === null) return onlyHealth(NO_LOG_DIR);
  const [ledger, lastRun, success] = await Promise.all([
    readInTime(dependencies, () => readLedger(settings.env, dependencies)),
    readLastRun(logDir, dependencies),
    readInTime(dependencies, () => stat(join(logDir, HEARTBEAT_FILE))),
  ]);
  const without = (problem: Parameters<typeof fail>) =>
    healthWithoutLedger(needsDoctor(fail(...problem)), lastRun, nowMs);
  if (ledger.status === "late") return without(["CHECK_TIMED_OUT", `the database ${LATE.reason}`]);
  if (ledger.status === "read" && ledger.value !== null) {
    const health = (successAgeMs: number | null | undefined) =>
      weeklyHealth(ledger.value as LedgerWeek, { lastRun, successAgeMs }, nowMs);
    if (success.status === "read") return health(nowMs - success.value.mtimeMs);
    if (success.status === "failed" && success.code === "ENOENT") return health(null);
    const code = success.status === "late" ? "CHECK_TIMED_OUT" : success.code;
    const { lines, facts } = health(undefined);
    return { lines: [...lines, ...unreadable("the last success", code, viewer).lines], facts };
  }
  if (ledger.status === "failed" && SECRET_CLOSED.includes(ledger.code))
    return unreadable("DATABASE_URL", ledger.code, viewer);
  if (ledger.status === "failed" && ledger.code === NOT_MIGRATED)
    return healthWithoutLedger(UNMIGRATED, lastRun, nowMs);
  if (ledger.status === "failed") return without([ledger.code, "the database cannot be read"]);
  const isHere = hasWorked(lastRun) || isSetUp("weekly", settings.env);
  return isHere ? without(["CONFIG_INVALID", "DATABASE_URL is missing"]) : NOT_SET_UP;
}

const UNMIGRATED = fail(NOT_MIGRATED, "the database is not migrated", command("opsctl migrate"));

/** The last closed week; null without DATABASE_URL. */
async function readLedger(env: Environment, dependencies: StatusDependencies): Promise<LedgerWeek | null> {
  const found = await findSecret(env, "DATABASE_URL", { commandLimitMs: dependencies.secretCommandLimitMs });
  if (found === undefined) return null;
  const database = await dependencies.openDatabase(found.secret);
  try {
    return await readOnly(database.sql, (tx) => readLedgerWeek(tx));
  } catch (error) {
    throw (await isNotMigrated(error, database.sql)) ? notMigrated() : error;
  } finally {
    void database.close().catch(() => {});
  }
}

/** Whether what is missing is what migrations bring, and not what the application does. */
async function isNotMigrated(error: unknown, sql: postgres.Sql): Promise<boolean> {
  if (classifyDatabaseError(error).code !== "DATABASE_OBJECT_MISSING") return false;
  const problems = await checkReadiness(sql).catch(() => []);
  return problems.some(({ code }) => code === NOT_MIGRATED);
}

function notMigrated(): OpsError {
  const message = "Cannot read the ledger: the database is not migrated";
  return new OpsError({ code: NOT_MIGRATED, message });
}

async function readLastRun(logDir: string, dependencies: StatusDependencies): Promise<LastRunReading> {
  const read = await readFileInTime(dependencies, join(logDir, LAST_RUN_FILE), LAST_RUN_MAX_BYTES);
  if (read.status === "late") return { status: "unreadable", code: "timeout" };
  if (read.status === "failed") return { status: "unreadable", code: read.code };
  return read.value === null ? { status: "none" } : readingOf(read.value);
}
