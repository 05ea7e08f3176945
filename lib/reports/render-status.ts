import type { Waiting } from "../last-run/last-run.ts";
import { ownersBeforeText } from "../ledger/owners-dropped.ts";
import { fieldLines, prose, proseLines, unbroken } from "../text/terminal/prose.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import { REPORT_ZONE } from "../time/local-date.ts";
import { localTime } from "../time/local-time.ts";
import type { LastRunFacts, LastRunFinding } from "./last-run.ts";
import type { OpenItem } from "./open-item.ts";
import type { WeekStatus } from "./status.ts";
import { FIX_FIRST, judgeWeek, RUN_STATES, type WeekJudgement } from "./week-judgement.ts";

const NAME_WIDTH = 10;

/** A week in one screen, for people. */
export function renderStatus(status: WeekStatus, lastRun: LastRunFinding, screen: Screen): string {
  const judgement = judgeWeek(status, lastRun);
  const { week, lastDate, counts } = status;
  const { head, facts } = judgement;
  const { noLongerEligible: gone } = counts;
  const painted = paint(status.clean ? "good" : "warning", head, screen);
  const goneCount = gone.reports + gone.whatsapp + gone.email;
  const lines: [string, string][] = [
    ["Last run", facts.lastRun === null ? "none of this week on this host" : lastRunText(facts.lastRun)],
    ["Ledger", status.changedAt === null ? "empty" : `last changed ${localTime(status.changedAt)}`],
    ["Owners", `${counts.owners}${ownersBeforeText(counts)}`],
    ["Reports", countsText(counts.reports)],
    ["Networks", networksText(status)],
    ["WhatsApp", countsText(counts.whatsapp)],
    ["E-mail", countsText(counts.email)],
    ...(goneCount === 0 ? [] : [["Left out", leftOutText(goneCount)] as [string, string]]),
  ];
  return [
    prose([`Week of ${week} to ${lastDate}: ${head}`, ""], screen).replace(head, () => painted),
    ...fieldLines(lines, screen, { indent: "  ", nameWidth: NAME_WIDTH }).map((line) => `${line}\n`),
    openText(status, judgement, screen),
    nextText(status, judgement, screen),
    prose(["", `Times are those of ${REPORT_ZONE}.`], screen),
  ].join("");
}

/** What is open, each with its command; while a run works no command hastens it. */
function openText({ open }: WeekStatus, { state, prospect }: WeekJudgement, screen: Screen): string {
  if (open.length === 0 || state === "awaited") return "";
  const isRunning = state === "running";
  const items = open.flatMap((item) => [
    ...proseLines(`  ${itemText(item)}`, screen, { indent: "    " }),
    // A command stays whole, so that it can be copied.
    ...(isRunning ? [] : [`    -> ${item.next}`]),
  ]);
  const heading = isRunning ? "Open until the run ends" : ["Open", prospect].filter(Boolean).join("; ");
  return `\n${prose([`${heading}:`], screen)}${items.map((line) => `${line}\n`).join("")}`;
}

/** What comes next, where the open items do not say it. */
function nextText(
  { week }: WeekStatus,
  { state, prospect, result: { fix } }: WeekJudgement,
  screen: Screen,
): string {
  // The command has a line of its own, so that it stays whole and can be copied.
  const list = `  opsctl reports list --week ${week} --state open\n`;
  if (fix === FIX_FIRST) return prose([FIX_CAUSES, "Who lacks what:"], screen) + list;
  if (fix === null || (state === "open" && fix.text === null)) return "";
  const command = fix.command === null ? [] : [unbroken(fix.command)];
  const why = state === "clean" && prospect !== null ? [`Nothing is open; ${prospect}.`] : [];
  return prose(["", ...why, [...(fix.text === null ? [] : [fix.text]), ...command].join(" ")], screen);
}

const FIX_CAUSES = `Before the next run, fix the problems listed above: ${unbroken("opsctl doctor weekly")}`;

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
  return `${count} failed or missing for owners who get no reports any more; nobody can change ${count === 1 ? "it" : "that"}`;
}
