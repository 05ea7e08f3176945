import { stat } from "node:fs/promises";
import { join } from "node:path";
import type postgres from "postgres";
import {
  lastRunResult,
  lastSuccessResults,
  lastWeekResult,
  type WeeklyReadings,
} from "../../../health/weekly.ts";
import { HEARTBEAT_FILE } from "../../../host/heartbeat-file-name.ts";
import { readLastRun } from "../../../last-run/read.ts";
import { readOnly } from "../../../ledger/read-only.ts";
import { logDirectory } from "../../../platform/config/directories.ts";
import { withTimeout } from "../../../platform/timeout.ts";
import { type LedgerWeek, readLedgerWeek } from "../../../reports/ledger-week.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { unseenResult } from "../../facts/reader.ts";
import type { CheckResult } from "../../finding.ts";
import { withDatabase } from "../services/database.ts";

const of = "weekly";

/** The last success, the last run and the last week; `status` judges them in the same way. */
export const WEEK_CHECKS: readonly Check[] = [
  checkOfFiles("last success", async (readings, context) => {
    const { closed } = readings;
    if (closed !== null) return [await unseenResult(HEARTBEAT_FILE, closed, of, context)];
    return lastSuccessResults(readings, context.dependencies.nowMs());
  }),
  checkOfFiles("last run", (readings, context) => [lastRunResult(readings, context.dependencies.nowMs())]),
  {
    ...{ command: of, name: "last week", service: "the database" },
    run: (context) =>
      withDatabase(of, context, async (sql) => {
        const ledger = await ledgerOf(context, sql);
        return [lastWeekResult(ledger, (await filesOf(context)) ?? NO_FILES)];
      }),
  },
];

/** A check of what the runs left on this host; without a log directory it finds nothing. */
function checkOfFiles(
  name: string,
  judge: (
    readings: LeftFiles & WeeklyReadings,
    context: CheckContext,
  ) => CheckResult[] | Promise<CheckResult[]>,
): Check {
  return {
    command: of,
    name,
    async run(context) {
      const readings = await readingsOf(context);
      return readings === null ? [] : await judge(readings, context);
    },
  };
}

const NO_FILES = { lastRun: { status: "none" }, successAgeMs: null } as const;

/** What the runs of this host left in its log directory; `closed` is the error of a file that cannot be read. */
type LeftFiles = Omit<WeeklyReadings, "ledger"> & { closed: unknown };

/**
 * What is known of the weekly run; null where the settings name no log directory.
 *
 * Behaviour: as this host's last run left it where the database does not answer, which another check says.
 */
async function readingsOf(context: CheckContext): Promise<(LeftFiles & WeeklyReadings) | null> {
  const files = await filesOf(context);
  if (files === null) return null;
  if (files.lastRun.status !== "found") return { ...files, ledger: null };
  let ledger: LedgerWeek | null = null;
  const read = async () => {
    await withDatabase(of, context, async (sql) => {
      ledger = await ledgerOf(context, sql);
      return [];
    });
  };
  const { callLimitMs: limitMs } = context.dependencies;
  await withTimeout({ limitMs }, read, () => {}).catch(() => {});
  return { ...files, ledger };
}

function ledgerOf(context: CheckContext, sql: postgres.Sql): Promise<LedgerWeek> {
  return context.once("last week", () => readOnly(sql, (tx) => readLedgerWeek(tx)));
}

async function filesOf(context: CheckContext): Promise<LeftFiles | null> {
  const logDir = await logDirectory((await context.environment(of)).env);
  if (logDir === null) return null;
  const lastRun = readLastRun(logDir);
  try {
    const { mtimeMs } = await stat(join(logDir, HEARTBEAT_FILE));
    return { lastRun, successAgeMs: context.dependencies.nowMs() - mtimeMs, closed: null };
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    return {
      lastRun,
      ...(code === "ENOENT"
        ? { successAgeMs: null, closed: null }
        : { successAgeMs: undefined, closed: error }),
    };
  }
}
