import { reasonText } from "../health/result.ts";
import { fixLines, hangingLines } from "../text/terminal/prose.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import { type CommandName, command, type Finding } from "./finding.ts";

type Status = Finding["status"];

const MARKS = {
  pass: { mark: "ok  ", tone: "good" },
  warn: { mark: "warn", tone: "warning" },
  fail: { mark: "FAIL", tone: "bad" },
  not_set_up: { mark: "-   ", tone: "label" },
} as const satisfies Record<Status, object>;

/** The findings as text for people, command by command, each with its fix below. */
export function renderFindings(findings: readonly Finding[], screen: Screen): string {
  const blocks = commandsOf(findings).map((command) => {
    const own = findings.filter((finding) => finding.command === command);
    return [paint("title", command, screen), ...own.flatMap((one) => findingLines(one, screen)), ""].join(
      "\n",
    );
  });
  const counts = countsOf(findings);
  const left = counts.not_set_up === 0 ? "" : `, ${counts.not_set_up} not set up`;
  return `${blocks.join("\n")}\n${counts.pass} ok, ${counts.warn} warn, ${counts.fail} FAIL${left}\n`;
}

function findingLines(finding: Finding, screen: Screen): string[] {
  const lines = markedLines(finding.status, { name: "", text: shown(finding) }, screen);
  return finding.fix === null ? lines : [...lines, ...fixLines("        -> ", finding.fix, screen)];
}

function shown(finding: Finding): string {
  return `${finding.check}: ${reasonText(finding)}`;
}

function markedLines(
  status: Status,
  { name, text }: { name: string; text: string },
  screen: Screen,
): string[] {
  const { mark, tone } = MARKS[status];
  const [first = "", ...more] = hangingLines(`  ${mark}  ${name}`, text, screen);
  return [first.replace(mark.trimEnd(), () => paint(tone, mark.trimEnd(), screen)), ...more];
}

function commandsOf(findings: readonly Finding[]): CommandName[] {
  return [...new Set(findings.map((finding) => finding.command))];
}

function countsOf(findings: readonly Finding[]): Record<Status, number> {
  const counts = { pass: 0, warn: 0, fail: 0, not_set_up: 0 };
  for (const { status } of findings) counts[status] += 1;
  return counts;
}

/** What is wrong with one command: its own causes, and the commands listed before it that share others. */
type Summary = { command: CommandName; findings: Finding[]; causes: Finding[]; as: CommandName[] };

/**
 * The findings in a line for each command, and the one step that comes next.
 *
 * Behaviour: a cause that several commands share is listed once, with the first of them. `option` names the environment
 *            files that were read, `asRoot` is the command by which root sees all of them.
 */
export function renderSummary(
  findings: readonly Finding[],
  screen: Screen,
  { option = "", asRoot = "sudo opsctl doctor" }: { option?: string; asRoot?: string } = {},
): string {
  const summaries = summariesOf(findings);
  const width = Math.max(0, ...summaries.map(({ command }) => command.length));
  const lines = summaries.flatMap((summary) => {
    const name = `${summary.command.padEnd(width)}  `;
    return markedLines(statusOf(summary.findings), { name, text: summaryText(summary) }, screen);
  });
  return `${[...lines, "", ...nextLines(summaries, screen, { option, asRoot })].join("\n")}\n`;
}

function summariesOf(findings: readonly Finding[]): Summary[] {
  const listed = new Map<string, CommandName>();
  return commandsOf(findings).map((command) => {
    const own = findings.filter((finding) => finding.command === command);
    const [causes, as] = [new Map<string, Finding>(), new Set<CommandName>()];
    for (const problem of problemsOf(own)) {
      const cause = shown(problem);
      const first = listed.get(cause) ?? command;
      if (first === command) causes.set(cause, problem);
      else as.add(first);
      listed.set(cause, first);
    }
    return { command, findings: own, causes: [...causes.values()], as: [...as] };
  });
}

/** What a person can do something about: what was not checked counts only where its fix says how to check it. */
function problemsOf(findings: readonly Finding[]): Finding[] {
  const isClosed = findings.some((finding) => finding.status === "fail" && finding.needsRoot);
  return findings.filter(({ status, because, fix, needsRoot }) => {
    if (status !== "fail" && status !== "warn") return false;
    // What is closed together with a file is listed once, by that file.
    return because !== "not_checked" || (fix !== null && !(isClosed && needsRoot));
  });
}

/** The status of a command in the summary; nothing is set up where all findings say so. */
function statusOf(findings: readonly Finding[]): Status {
  if (isNotSetUp(findings)) return "not_set_up";
  return worstOf(problemsOf(findings))?.status ?? "pass";
}

function isNotSetUp(findings: readonly Finding[]): boolean {
  return findings.length > 0 && findings.every(({ status }) => status === "not_set_up");
}

function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ status }) => status === "fail") ?? findings[0];
}

function summaryText({ findings, causes, as }: Summary): string {
  const worst = worstOf(causes);
  if (worst !== undefined)
    return `${shown(worst)}${causes.length === 1 ? "" : ` (and ${causes.length - 1} more)`}`;
  if (as.length > 0) return `as ${as.join(" and ")}`;
  if (isNotSetUp(findings)) return "not set up";
  const { pass, warn, fail, not_set_up: left } = countsOf(findings);
  const notes = warn + fail;
  return [
    `${pass} ok`,
    ...(notes === 0 ? [] : [`${notes} not checked`]),
    ...(left === 0 ? [] : [`${left} not set up`]),
  ].join(", ");
}

/** How soon a finding is worth a person's time: what fails, then what has a fix, last what nobody has to do today. */
function priorityOf({ status, fix, isNote }: Finding): number {
  if (status === "fail") return 0;
  if (isNote) return 3;
  return fix === null ? 2 : 1;
}

function nextLines(
  summaries: readonly Summary[],
  screen: Screen,
  { option, asRoot }: { option: string; asRoot: string },
): string[] {
  if (summaries.every(({ findings }) => isNotSetUp(findings)))
    return fixLines("", command(`  opsctl doctor weekly${option}`, NOTHING_YET), screen);
  const all = fixLines("", command(`  opsctl doctor --all${option}`, "All findings:"), screen);
  const causes = summaries.flatMap((summary) => summary.causes);
  const [first] = causes.toSorted((one, other) => priorityOf(one) - priorityOf(other));
  if (first === undefined) return all;
  const closed = new Set(causes.filter(({ needsRoot }) => needsRoot).map((finding) => finding.command));
  if (first.needsRoot && closed.size > 1)
    return ["Next:", ...fixLines("  ", command(asRoot), screen), "", ...all];
  const next = first.fix ?? command(`opsctl doctor ${first.command}${option}`);
  return [`Next, for ${first.command}:`, ...fixLines("  ", next, screen), "", ...all];
}

/** Weekly is the first part that most hosts have. */
const NOTHING_YET = "Nothing is set up on this host yet. What the first part needs:";
