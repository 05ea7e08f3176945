import { join } from "node:path";
import type postgres from "postgres";
import { HEARTBEAT_FILE } from "../../host/heartbeat-file-name.ts";
import { LAST_RUN_FILE, LAST_RUN_MAX_BYTES } from "../../last-run/file-name.ts";
import { hasWorked } from "../../last-run/has-worked.ts";
import { type LastRunReading, readingOf } from "../../last-run/read.ts";
import { readOnly } from "../../ledger/read-only.ts";
import { logDirectory } from "../../platform/config/directories.ts";
import { classifyDatabaseError } from "../../platform/database/error.ts";
import { OpsError } from "../../platform/errors.ts";
import { type Environment, findSecret } from "../../platform/secrets/adapter.ts";
import { type LedgerWeek, readLedgerWeek } from "../../reports/ledger-week.ts";
import { checkReadiness } from "../../schema/readiness.ts";
import type { StatusDependencies } from "../dependencies.ts";
import { attention, NOT_SET_UP, type PartReport } from "../part.ts";
import { isMeantToWork, settingsOf, unreadable } from "../part-settings.ts";
import { type Reading, readFileInTime, readInTime } from "../reading.ts";
import { judgeLedger, judgeWithoutLedger } from "./weekly-verdict.ts";

const command = "weekly";
const NOT_MIGRATED = "DATABASE_NOT_MIGRATED";

/** The last closed week by the ledger and by the last run of this host, each within its own time. */
export async function weeklyStatus(dependencies: StatusDependencies): Promise<PartReport> {
  const { viewer } = dependencies;
  const settings = settingsOf(command, dependencies);
  if (settings.status === "failed") return unreadable("its settings", settings.code, viewer, command);
  const logDir = await logDirectory(settings.env);
  if (logDir === null)
    return attention(["OPSCTL_LOG_DIR is no absolute path"], `sudo opsctl doctor ${command}`);
  const [ledger, lastRun, heartbeat] = await Promise.all([
    readInTime(dependencies, () => readLedger(settings.env, dependencies)),
    readLastRun(logDir, dependencies),
    readFileInTime(dependencies, join(logDir, HEARTBEAT_FILE), 1),
  ]);
  if (ledger.status === "late") return judgeWithoutLedger("the database did not answer in time", lastRun);
  if (ledger.status === "read" && ledger.value !== null) {
    const isHeartbeatGone = heartbeat.status === "read" && heartbeat.value === null;
    return judgeLedger(ledger.value, lastRun, { isHeartbeatGone });
  }
  if (ledger.status === "failed" && isClosed(ledger.code))
    return unreadable("DATABASE_URL", ledger.code, viewer, command);
  if (ledger.status === "failed" && ledger.code === NOT_MIGRATED)
    return judgeWithoutLedger("the database is not migrated", lastRun, "sudo opsctl migrate");
  if (ledger.status === "failed")
    return judgeWithoutLedger(`the database cannot be read (${ledger.code})`, lastRun);
  const isSetUp = hasWorked(lastRun) || isMeantToWork(command, settings.env);
  return isSetUp ? judgeWithoutLedger("DATABASE_URL is missing", lastRun) : NOT_SET_UP;
}

function isClosed(code: string): boolean {
  return code === "SECRET_FILE_UNREADABLE" || code === "SECRET_FILE_UNTRUSTED";
}

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
  return new OpsError({
    code: NOT_MIGRATED,
    message: "Cannot read the ledger: the database is not migrated",
  });
}

async function readLastRun(logDir: string, dependencies: StatusDependencies): Promise<LastRunReading> {
  const read: Reading<string | null> = await readFileInTime(
    dependencies,
    join(logDir, LAST_RUN_FILE),
    LAST_RUN_MAX_BYTES,
  );
  if (read.status === "late") return { status: "unreadable", code: "timeout" };
  if (read.status === "failed") return { status: "unreadable", code: read.code };
  return read.value === null ? { status: "none" } : readingOf(read.value);
}
