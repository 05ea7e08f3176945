import { statSync } from "node:fs";
import { join } from "node:path";
import type postgres from "postgres";
import { HEARTBEAT_FILE } from "../last-run/file-name.ts";
import { hasWorked } from "../last-run/has-worked.ts";
import type { Waiting } from "../last-run/last-run.ts";
import { type LastRunReading, readLastRun } from "../last-run/read.ts";
import { openDeliveries } from "../last-run/week-counts.ts";
import { readOnly } from "../ledger/read-only.ts";
import { loadSettings } from "../platform/config/load.ts";
import { withTimeout } from "../platform/timeout.ts";
import { factsOf, type LastRunFacts, lastRunOfWeek, weekOf } from "../reports/last-run.ts";
import { type LedgerWeek, readLedgerWeek } from "../reports/ledger-week.ts";
import { FIX_FIRST, judgeWeek, RUN_STATES, type WeekJudgement } from "../reports/week-judgement.ts";
import { localTime } from "../time/local-time.ts";
import { Temporal } from "../time/temporal.ts";
import { isToCome } from "../time/to-come.ts";
import { weekWindow } from "../time/week-window.ts";
import {
  type CheckResult,
  command,
  fail,
  type Health,
  type Look,
  NOT_SET_UP,
  note,
  SET_CLOCK,
  warn,
} from "./result.ts";

const DAY_MS = 86_400_000;
/** There is a run every week; one more day to notice a missing one. */
const SUCCESS_LIMIT_DAYS = 8;

const REPLACED = "The next run replaces it, where it may write to the log directory";
const SEE_LOG = "See the end of /var/log/opsctl/weekly.log for what failed";
const NEXT_MONDAY = command(
  "opsctl weekly --dry-run",
  "The run of a Monday does it; on any day this checks what that run needs:",
);

/** The last closed week; where it was not read, `problem` says why, null where another check does. */
export type Ledger = { week: LedgerWeek | null; problem: CheckResult | null };

/** Reads it; `withDatabase` gives its argument the open database, or returns what is wrong with that. */
export async function readLedger(
  withDatabase: (use: (sql: postgres.Sql) => Promise<CheckResult[]>) => Promise<CheckResult[]>,
  limitMs: number,
): Promise<Ledger> {
  let week: LedgerWeek | null = null;
  const use = async (sql: postgres.Sql) => {
    week = await readOnly(sql, (tx) => readLedgerWeek(tx));
    return [];
  };
  const read = () => withDatabase(use);
  const late = () => [fail("CHECK_TIMED_OUT", "the database did not answer in time")];
  const [problem = null] = await withTimeout({ limitMs }, read, late);
  return { week, problem };
}

/**
 * The health of the weekly run: the last closed week, and how the last run of this host and its last success stand.
 *
 * Behaviour: a host that is not set up, and on which no run has worked, does not use it.
 * Errors:    CONFIG_INVALID about the log directory; those of the file of the last success.
 */
export async function weeklyHealth({ week, problem }: Ledger, look: Look): Promise<Health> {
  const { env, isSetUp, nowMs } = look;
  const { OPSCTL_LOG_DIR: logDir } = await loadSettings("weekly", { optional: ["OPSCTL_LOG_DIR"] }, env);
  const lastRun = readLastRun(logDir);
  if (!isSetUp && !hasWorked(lastRun)) return NOT_SET_UP;
  const atMs = nowMs();
  const heartbeat = statSync(join(logDir, HEARTBEAT_FILE), { throwIfNoEntry: false });
  const isHeartbeatGone = heartbeat === undefined;
  const seen = week && { week: week.week, isClean: week.clean, isHeartbeatGone };
  const judgement = seen && judgeWeek(week, lastRunOfWeek(lastRun, seen));
  const lastWeek = week?.week ?? weekWindow(Temporal.Instant.fromEpochMilliseconds(atMs)).week;
  const results = [
    judgement?.result ?? problem,
    runResult(lastRun, judgement, lastWeek),
    isHeartbeatGone ? null : successResult(atMs - heartbeat.mtimeMs, judgement),
  ];
  return {
    results: results.filter((result) => result !== null),
    facts: judgement?.facts ?? factsOfRun(lastRun),
  };
}

/** What is wrong with the last run of this host; what is open of its week is the result of the week. */
function runResult(
  reading: LastRunReading,
  judgement: WeekJudgement | null,
  lastWeek: string,
): CheckResult | null {
  if (reading.status === "none") return null;
  if (reading.status === "unreadable") {
    const code = reading.code === "LAST_RUN_MALFORMED" ? reading.code : "LAST_RUN_UNREADABLE";
    return fail(code, `the record of the last run cannot be read: ${reading.code}`, REPLACED);
  }
  const run = factsOf(reading.run);
  if (run.status === "running" && run.waiting !== null) return waitingResult(run.waiting);
  if (run.status === "running" || run.status === "success") return null;
  const week = weekOf(reading.run)?.week;
  const reason = `${endText(run)}${week === undefined ? "" : `, week of ${week}`}`;
  const settled =
    week === lastWeek ? SETTLED[judgement?.state ?? "open"] : "another week has closed since then";
  return settled === null
    ? fail("LAST_RUN_FAILED", reason, judgement?.result.fix ?? FIX_FIRST)
    : note("LAST_RUN_FAILED", `${reason}; ${settled}`);
}

/** Why nobody has to mind a run that failed, by the state of its week. */
const SETTLED: Readonly<Record<WeekJudgement["state"], string | null>> = {
  clean: "nothing of that week is open any more",
  running: "a run works on it",
  ...{ awaited: null, late: null, open: null },
};

function waitingResult({ waitsFor, code, since, until }: Waiting): CheckResult {
  const times = `since ${localTime(since)}, until ${localTime(until)} at most (São Paulo)`;
  return warn("RUN_WAITING", `a run waits for the ${waitsFor} (${code}) ${times}`, LOOK);
}

const LOOK = "Look at the database: the run goes on, or ends, without you";

function endText({ status, waiting, code }: LastRunFacts): string {
  const wait = waiting === null ? "" : ` while it waited for the ${waiting.waitsFor}`;
  const cause = waiting?.code ?? code;
  return `the run ${RUN_STATES[status]}${wait}${cause === null ? "" : ` (${cause})`}`;
}

/** What is wrong with the last full success; the run of the next Monday renews it where its week is settled. */
function successResult(ageMs: number, judgement: WeekJudgement | null): CheckResult | null {
  const days = (Math.abs(ageMs) / DAY_MS).toFixed(1);
  if (isToCome(ageMs))
    return warn("CLOCK_WRONG", `the last full success is dated ${days} days in the future`, SET_CLOCK);
  if (ageMs <= SUCCESS_LIMIT_DAYS * DAY_MS) return null;
  const text = `the last full success was ${days} days ago`;
  return ["clean", "awaited", "running"].includes(judgement?.state ?? "")
    ? note("HEARTBEAT_STALE", `${text}; the next run on a Monday renews it`, NEXT_MONDAY)
    : fail("HEARTBEAT_STALE", text, SEE_LOG);
}

/** Without the ledger, what the last run counted. */
function factsOfRun(lastRun: LastRunReading): object | null {
  if (lastRun.status !== "found") return null;
  const { window, week, retryableUntil } = lastRun.run;
  const open = week === null ? null : openDeliveries(week);
  return { week: window?.week ?? null, clean: null, open, owners: null, retryableUntil, lastRun: null };
}
