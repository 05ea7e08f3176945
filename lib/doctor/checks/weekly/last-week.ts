import { OWNERS_DROPPED, ownersBeforeText } from "../../../ledger/owners-dropped.ts";
import { readOnly } from "../../../ledger/read-only.ts";
import { EXPLAIN, STEP_COMMANDS } from "../../../ledger/week-steps.ts";
import type { OpenCounts } from "../../../ledger/week-verdict.ts";
import { findLastRun, type LastRunFinding } from "../../../reports/last-run.ts";
import { type LedgerWeek, readLedgerWeek } from "../../../reports/ledger-week.ts";
import { judgeWeek, type WeekJudgement } from "../../../reports/week-judgement.ts";
import { FIRST_TO_COME, makeText } from "../../../reports/week-words.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { command, fail, pass, type Verdict, warn } from "../../finding.ts";
import { withDatabase } from "../peers/database.ts";
import { fixOf, prospectOf } from "./week-fix.ts";

const of = "weekly";
const UNKNOWN: LastRunFinding = { status: "none", hasHostWorked: false };

/**
 * What is open in the last closed week, and until when it can be sent; `logDirOf` is null where the settings do not name
 * the directory.
 */
export function lastWeekCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command: of,
    name: "last week",
    run: (context) =>
      withDatabase(of, context, async (sql) => {
        const logDir = await logDirOf(context);
        const ledger = await readOnly(sql, (tx) => readLedgerWeek(tx));
        const known = { week: ledger.week, isClean: ledger.clean };
        return [lastWeekVerdict(ledger, logDir === null ? UNKNOWN : findLastRun(logDir, known))];
      }),
  };
}

/**
 * The verdict over the last closed week.
 *
 * Behaviour: nothing is open before the run of a Monday is due, and while a run works on it. On a closed week an owner
 *            without a report cannot be mended, so that it is no fault by itself where a run was made.
 */
export function lastWeekVerdict(ledger: LedgerWeek, lastRun: LastRunFinding): Verdict {
  const judgement = judgeWeek(ledger, lastRun);
  const verdict = verdictOf(judgement, ledger);
  const { decision } = judgement;
  return verdict.status === "pass" || decision === null ? verdict : { ...verdict, fix: command(decision) };
}

function verdictOf(judgement: WeekJudgement, ledger: LedgerWeek): Verdict {
  switch (judgement.status) {
    case "awaited":
      return pass(`the run for the week of ${ledger.week} is due at 08:00 (São Paulo)`);
    case "running":
      return pass(`a run works on the week of ${ledger.week}`);
    case "late":
      return noRunVerdict(judgement, ledger);
    case "open":
      return openVerdict(judgement, ledger);
    case "clean":
      return cleanVerdict(judgement, ledger);
  }
}

/** The verdict over what a run has left open. */
function openVerdict(
  { open, social, steps }: WeekJudgement,
  { week, retryableUntil: until }: LedgerWeek,
): Verdict {
  const { missing = 0, ...otherReports } = open.reports;
  const others = [
    ...counted("reports", otherReports),
    ...counted("WhatsApp", open.whatsapp),
    ...counted("e-mail", open.email),
    ...(social === null ? [] : [`networks: ${social}`]),
  ];
  const parts = [...(missing === 0 ? [] : [`reports: ${missing} missing`]), ...others];
  const isBeyondHelp = until === null && others.length === 0;
  return (isBeyondHelp ? warn : fail)(
    "WEEK_OPEN",
    `open in the week of ${week}: ${parts.join("; ")}; ${prospectOf(steps, until)}`,
    fixOf(steps),
  );
}

/** What the last run has left to do, its own check says. */
function cleanVerdict({ dropped }: WeekJudgement, { week, counts }: LedgerWeek): Verdict {
  const text = `nothing is open in the week of ${week}`;
  if (dropped === null) return pass(text);
  return warn(
    OWNERS_DROPPED,
    `${text}; owners: ${counts.owners}${ownersBeforeText(counts)}`,
    command(EXPLAIN.ownersDropped),
  );
}

/** The verdict over a Monday on which no run of any host has begun; a host that is new was not there for it. */
function noRunVerdict({ isFirst }: WeekJudgement, { week, retryableUntil: until }: LedgerWeek): Verdict {
  if (isFirst && until === null) return pass(FIRST_TO_COME);
  const text = `no run has begun with the week of ${week}`;
  if (until !== null)
    return (isFirst ? warn : fail)("WEEK_NOT_RUN", `${text}; ${makeText(until)}`, command(STEP_COMMANDS.run));
  return fail(
    "WEEK_NOT_RUN",
    `${text}; that week is closed: ${makeText(until)}`,
    "See the end of /var/log/opsctl/weekly.log for what failed",
  );
}

function counted(name: string, counts: OpenCounts): string[] {
  const texts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return texts.length === 0 ? [] : [`${name}: ${texts.join(", ")}`];
}
