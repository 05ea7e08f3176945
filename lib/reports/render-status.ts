import type { Waiting } from "../last-run/last-run.ts";
import { ownersBeforeText } from "../ledger/owners-dropped.ts";
import { EXPLAIN, STEP_COMMANDS } from "../ledger/week-steps.ts";
import { fieldLines, prose, proseLines, unbroken } from "../text/terminal/prose.ts";
import { NO_TERMINAL, paint, type Screen } from "../text/terminal/screen.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { LastRunFacts, LastRunFinding } from "./last-run.ts";
import type { OpenItem } from "./open-item.ts";
import type { WeekStatus } from "./status.ts";
import { judgeWeek, type WeekJudgement } from "./week-judgement.ts";
import { RUN_STATES } from "./week-words.ts";

const NAME_WIDTH = 10;

/** A week in one screen, for people. */
export function renderStatus(
  status: WeekStatus,
  lastRun: LastRunFinding,
  screen: Screen = NO_TERMINAL,
): string {
  const judgement = judgeWeek(status, lastRun);
  if (judgement.isFirst) return beforeFirstRun(status, screen);
  const { week, lastDate, counts } = status;
  const { run } = judgement;
  const { noLongerEligible: gone } = counts;
  const word = headText(status, judgement);
  const painted = paint(status.clean ? "good" : "warning", word, screen);
  const goneCount = gone.reports + gone.whatsapp + gone.email;
  const lines: [string, string][] = [
    ["Last run", run === null ? "none of this week on this host" : lastRunText(run)],
    ["Ledger", status.changedAt === null ? "empty" : `last changed ${localTime(status.changedAt)}`],
    ["Owners", `${counts.owners}${ownersBeforeText(counts)}`],
    ["Reports", countsText(counts.reports)],
    ["Networks", networksText(status)],
    ["WhatsApp", countsText(counts.whatsapp)],
    ["E-mail", countsText(counts.email)],
    ...(goneCount === 0 ? [] : [["Left out", leftOutText(goneCount)] as [string, string]]),
  ];
  return [
    prose([`Week of ${week} to ${lastDate}: ${word}`, ""], screen).replace(word, () => painted),
    ...fieldLines(lines, screen, { indent: "  ", nameWidth: NAME_WIDTH }).map((line) => `${line}\n`),
    openWeekText(status, judgement, screen),
    judgement.dropped === null ? "" : prose(["", WHY_DROPPED], screen),
    lastStepText(status, judgement, screen),
    prose(["", `Times are those of ${REPORT_ZONE}.`], screen),
  ].join("");
}

/** Nothing is open where nothing has been begun: the week that has closed was not this host's to report on. */
function beforeFirstRun(
  { week, lastDate, counts, retryableUntil, runDue }: WeekStatus,
  screen: Screen,
): string {
  const lines: [string, string][] = [
    ["Last run", "none yet, of any week and on any host"],
    ["Owners", String(counts.owners)],
  ];
  const byHand = `No run has begun today; by hand until ${retryableUntil && localTime(retryableUntil)}: ${RUN}`;
  const first = retryableUntil === null ? "The first run is on Monday at 08:00." : byHand;
  return [
    prose([`Week of ${week} to ${lastDate}: no run yet`, ""], screen),
    ...fieldLines(lines, screen, { indent: "  ", nameWidth: NAME_WIDTH }).map((line) => `${line}\n`),
    prose(["", runDue ? first : RUN_DUE, WHAT_IT_NEEDS], screen),
    prose(["", `Times are those of ${REPORT_ZONE}.`], screen),
  ].join("");
}

const WHY_DROPPED = `Far fewer owners than before. Why that may be: ${unbroken(EXPLAIN.ownersDropped)}`;
const RUN_DUE = "Nothing is to be done: cron starts the run at 08:00.";
const DOCTOR = unbroken("opsctl doctor weekly");
const RUN = unbroken(STEP_COMMANDS.run);
const WHAT_IT_NEEDS = `What it needs, on any day: ${DOCTOR}`;

/** The verdict in a word, and what the count of open things does not say by itself. */
function headText({ clean }: WeekStatus, { status }: WeekJudgement): string {
  if (clean) return status === "late" ? "no run has begun" : "clean";
  return {
    awaited: "the run is due at 08:00",
    running: "OPEN, a run works on it",
    late: "OPEN, no run has begun",
    open: "OPEN",
    clean: "clean",
  }[status];
}

/** What is open, and what comes next. */
function openWeekText(status: WeekStatus, judgement: WeekJudgement, screen: Screen): string {
  switch (judgement.status) {
    case "awaited":
      return prose(["", RUN_DUE, WHAT_IT_NEEDS], screen);
    case "running":
      return inWorkText(status, (judgement.run?.waiting ?? null) === null ? RUN_WORKS : RUN_WAITS, screen);
    case "late":
      return lateText(status, screen);
    case "open":
      return openText(status, screen) + mendText(status, screen);
    case "clean":
      return "";
  }
}

/** Without owners nothing is open, and the run is missing all the same. */
function lateText(status: WeekStatus, screen: Screen): string {
  const { clean, retryableUntil } = status;
  if (retryableUntil === null) return openText(status, screen);
  const run = `The run can be made until ${localTime(retryableUntil)}: ${RUN}`;
  return (clean ? prose(["", run], screen) : openText(status, screen)) + prose([WHY_NO_RUN], screen);
}

const WHY_NO_RUN = `Before that, see why no run has begun: ${DOCTOR}`;

/** What the run that goes on has still to take, which no command hastens. */
function inWorkText({ open }: WeekStatus, advice: string, screen: Screen): string {
  if (open.length === 0) return "";
  const items = open.map((item) => `  ${itemText(item)}`);
  return prose(["", advice, "Open until it ends:", ...items], screen, { indent: "    " });
}

const RUN_WORKS = "Nothing is to be done while the run works.";
const RUN_WAITS = `The run waits before it can begin. See why: ${DOCTOR}`;

function openText({ open, retryableUntil }: WeekStatus, screen: Screen): string {
  if (open.length === 0) return "";
  const canBeRepeated = open.some(
    ({ state, step }) => step !== "social" && (state === "failed" || state === "missing"),
  );
  const until =
    retryableUntil === null
      ? "Open; this week is closed, nothing more is sent for it:"
      : canBeRepeated
        ? `Open; what failed or is missing can be repeated until ${localTime(retryableUntil)}:`
        : "Open:";
  const items = open.flatMap((item) => [
    ...proseLines(`  ${itemText(item)}`, screen, { indent: "    " }),
    // A command stays whole, so that it can be copied.
    `    -> ${item.next}`,
  ]);
  return `\n${prose([until], screen)}${items.map((line) => `${line}\n`).join("")}`;
}

/** What is done before another run. */
function mendText({ week, open, retryableUntil }: WeekStatus, screen: Screen): string {
  const isForRun = ({ step, state, code }: OpenItem) =>
    step !== "social" && state === "failed" && code !== null;
  if (retryableUntil === null || !open.some(isForRun)) return "";
  return prose([MEND_FIRST], screen) + whoText(week);
}

/**
 * What no row of the ledger says: that a run is refused until a person decides, or, where nothing is open, that the last
 * run does not know: it was mended by hand since, or failed beside the ledger.
 */
function lastStepText(
  { retryableUntil }: WeekStatus,
  { decision, renewal, run }: WeekJudgement,
  screen: Screen,
): string {
  if (decision !== null)
    return prose(["", `No run begins before this is decided: ${unbroken(decision)}`], screen);
  if (renewal === "run") return prose(["", RUN_ONCE_MORE], screen);
  if (renewal !== "mend") return "";
  const what = `Nothing is open, but the run failed. What to fix: ${unbroken(`opsctl explain ${run?.beside}`)}`;
  const until = retryableUntil && localTime(retryableUntil);
  return prose(["", what, `Then, until ${until}: ${RUN}`], screen);
}

const RUN_ONCE_MORE = `Nothing is open. Write the heartbeat and end the alarm: ${RUN}`;

/** The command has a line of its own, so that it stays whole and can be copied. */
function whoText(week: string): string {
  return `Who lacks what:\n  opsctl reports list --week ${week} --state open\n`;
}

const MEND_FIRST = `Before the next run, fix the problems listed above: ${DOCTOR}`;

const ITEMS: Record<OpenItem["step"], [string, string]> = {
  reports: ["report", "reports"],
  whatsapp: ["WhatsApp message", "WhatsApp messages"],
  email: ["e-mail", "e-mails"],
  social: ["network", "networks"],
};

function itemText({ step, state, code, count }: OpenItem): string {
  const [one, many] = ITEMS[step];
  return `${count} ${count === 1 ? one : many} ${STATES[state]}${code === null ? "" : `: ${code}`}`;
}

const STATES: Record<OpenItem["state"], string> = {
  failed: "failed",
  missing: "missing",
  unknown: "in doubt (unknown)",
  partial: "sent without a timeline entry",
  running: "in the hands of a run",
};

function lastRunText({ status, begunAt, finishedAt, code, host, waiting }: LastRunFacts): string {
  if (waiting !== null) return `${waitText(status, waiting)}, on ${host}`;
  const times = [begunAt, finishedAt].filter((at) => at !== null).map(localTime);
  const [from, to] = times;
  return [
    `${RUN_STATES[status]}${code === null ? "" : ` (${code})`}`,
    ...(from === undefined ? [] : [to === undefined ? from : `${from} to ${shortened(to, from)}`]),
    `on ${host}`,
  ].join(", ");
}

/** Its own clock is all that such a run has. */
function waitText(status: LastRunFacts["status"], { waitsFor, code, since, until }: Waiting): string {
  const [from, to] = [since, until].map(localTime) as [string, string];
  return status === "running"
    ? `waits for the ${waitsFor} (${code}) since ${from}, until ${shortened(to, from)} at most`
    : `was killed while it waited for the ${waitsFor} (${code}), since ${from}`;
}

/** A time without its date when that is the same as before. */
function shortened(time: string, before: string): string {
  const [date, clock] = time.split(" ");
  return before.startsWith(`${date} `) ? clock! : time;
}

function networksText({ counts, contentRemoved }: WeekStatus): string {
  const { connected, failed, owners } = counts.social;
  const reports = contentRemoved === 1 ? "1 report" : `${contentRemoved} reports`;
  if (contentRemoved > 0) return `not known any more: the content of ${reports} was removed`;
  if (connected === 0) return "none asked for by a completed report";
  if (failed === 0) return `${connected} asked for`;
  return `${connected} asked for, ${failed} failed (${owners} ${owners === 1 ? "owner" : "owners"})`;
}

/** What is done first; the database hands counts over in an order of its own. */
const ORDER = ["completed", "sent", "running", "partial", "failed", "unknown", "missing"];

function countsText(counts: Record<string, number>): string {
  const shown = ORDER.filter((state) => (counts[state] ?? 0) > 0);
  return shown.length === 0 ? "none" : shown.map((state) => `${counts[state]} ${state}`).join(", ");
}

function leftOutText(count: number): string {
  return `${count} failed or missing for owners who get no reports any more; nobody can mend ${count === 1 ? "it" : "them"}`;
}
