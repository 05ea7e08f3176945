import { fixLines } from "../text/terminal/fix-lines.ts";
import { proseLines } from "../text/terminal/prose.ts";
import type { Screen } from "../text/terminal/screen.ts";
import { type CommandName, command, type Finding, NEXT_MONDAY } from "./finding.ts";
import { markedLines } from "./render.ts";

const PROBLEMS: readonly Finding["status"][] = ["fail", "warn"];

/** What the commands that come next have in common. */
type NextCommands = { option: string; asRoot: string };

/** What is wrong with one command: its own causes, and the commands before it that have others of its causes, too. */
type Summary = { command: CommandName; findings: Finding[]; causes: Finding[]; as: CommandName[] };

/**
 * The findings in a line for each command, and the one step that comes next.
 *
 * Behaviour: a cause that several commands have is told with the first of them; what only follows from a missing
 *            setting is not told, nor is that something cannot be checked by anyone. `option` names the environment files
 *            that were read, `asRoot` is the command by which root sees all of them.
 */
export function renderSummary(
  findings: readonly Finding[],
  screen: Screen,
  { option = "", asRoot = "sudo opsctl doctor" }: Partial<NextCommands> = {},
): string {
  const summaries = summarised(findings);
  const width = Math.max(0, ...summaries.map(({ command }) => command.length));
  const lines = summaries.flatMap((summary) => {
    const name = `${summary.command.padEnd(width)}  `;
    return markedLines(statusOf(summary), { name, text: textOf(summary) }, screen);
  });
  return `${lines.join("\n")}\n\n${nextLines(summaries, screen, { option, asRoot }).join("\n")}\n`;
}

function statusOf({ findings }: Summary): Finding["status"] {
  if (isLeftOut(findings)) return "not_set_up";
  return worstOf(problemsOf(findings))?.status ?? "pass";
}

/** Whether all that is said of a command is that this host does not use it. */
function isLeftOut(findings: readonly Finding[]): boolean {
  return findings.length > 0 && findings.every(({ status }) => status === "not_set_up");
}

function summarised(findings: readonly Finding[]): Summary[] {
  const told = new Map<string, CommandName>();
  return [...new Set(findings.map(({ command }) => command))].map((command) => {
    const own = findings.filter((finding) => finding.command === command);
    const [causes, as] = [new Map<string, Finding>(), new Set<CommandName>()];
    for (const problem of problemsOf(own)) {
      const cause = `${problem.check}: ${problem.reason}`;
      const first = told.get(cause) ?? command;
      if (first === command) causes.set(cause, problem);
      else as.add(first);
      told.set(cause, first);
    }
    return { command, findings: own, causes: [...causes.values()], as: [...as] };
  });
}

function problemsOf(findings: readonly Finding[]): Finding[] {
  const isClosed = findings.some((finding) => finding.status === "fail" && finding.needsRoot);
  // What this account cannot look at, told once by the file that is closed to it.
  const isTold = (finding: Finding) => isClosed && finding.because === "not_checked" && finding.needsRoot;
  return findings.filter(
    (finding) => PROBLEMS.includes(finding.status) && !isNote(finding) && !isTold(finding),
  );
}

/** Nothing that a person could do here: another check tells it already, or it cannot be checked. */
function isNote({ because, fix }: Finding): boolean {
  return because === "not_checked" && fix === null;
}

function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ status }) => status === "fail") ?? findings[0];
}

/**
 * What fails comes before all, and of warnings one that a person can do something about; the last is the one that only
 * a Monday changes.
 */
function mostUseful(findings: readonly Finding[]): Finding | undefined {
  const failed = findings.find(({ status }) => status === "fail");
  const today = findings.filter(({ fix }) => fix !== NEXT_MONDAY);
  return failed ?? today.find(({ fix }) => fix !== null) ?? today[0] ?? findings[0];
}

function textOf({ findings, causes, as }: Summary): string {
  const worst = worstOf(causes);
  if (worst === undefined) return as.length > 0 ? `as ${as.join(" and ")}` : wellText(findings);
  const more = causes.length === 1 ? "" : ` (and ${causes.length - 1} more)`;
  // What a setting has to look like is told with the whole list.
  return `${worst.check}: ${worst.reason.replace(/; expected .*$/, "")}${more}`;
}

function wellText(findings: readonly Finding[]): string {
  if (isLeftOut(findings)) return "not set up";
  const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
  const [passed, left] = [count("pass"), count("not_set_up")];
  const notes = findings.length - passed - left;
  const parts = [
    `${passed} ok`,
    notes === 0 ? "" : `${notes} not checked`,
    left === 0 ? "" : `${left} not set up`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const ALL = "Everything that was looked at: opsctl doctor --all";
/** The first part that most hosts have. */
const NOTHING_YET = "Nothing is set up on this host yet. What the first part needs: opsctl doctor weekly";

function nextLines(
  summaries: readonly Summary[],
  screen: Screen,
  { option, asRoot }: NextCommands,
): string[] {
  if (summaries.every(({ findings }) => isLeftOut(findings)))
    return proseLines(`${NOTHING_YET}${option}`, screen);
  const causes = summaries.flatMap((summary) => summary.causes);
  const first = mostUseful(causes);
  const all = proseLines(`${ALL}${option}`, screen);
  if (first === undefined) return all;
  const closed = new Set(causes.filter(({ needsRoot }) => needsRoot).map(({ command: of }) => of));
  if (first.needsRoot && closed.size > 1)
    return ["Next:", ...fixLines("  ", command(asRoot), screen), "", ...all];
  const next = first.fix ?? command(`opsctl doctor ${first.command}${option}`);
  return [`Next, for ${first.command}:`, ...fixLines("  ", next, screen), "", ...all];
}
