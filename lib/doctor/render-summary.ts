import type { CommandName, Finding } from "./finding.ts";
import { MARK } from "./render.ts";

/** What another check of the same command tells already. */
const CONSEQUENCE = /^not checked: .*, see (?:configuration|environment file|secrets)$/;

/** What is wrong with one command: its own causes, and the commands before it that have others of its causes, too. */
type Summary = { command: CommandName; findings: Finding[]; causes: Finding[]; as: CommandName[] };

/**
 * The findings in a line for each command, and the one step that comes next.
 *
 * Behaviour: a cause that several commands have is told with the first of them; what only follows from a missing setting
 *            is not told, nor is that something cannot be checked by anyone.
 */
export function renderSummary(findings: readonly Finding[]): string {
  const summaries = summarised(findings);
  const width = Math.max(0, ...summaries.map(({ command }) => command.length));
  const lines = summaries.map((summary) => {
    const mark = MARK[worstOf(problemsOf(summary.findings))?.status ?? "pass"];
    return `  ${mark}  ${summary.command.padEnd(width)}  ${textOf(summary)}\n`;
  });
  return `${lines.join("")}${nextText(summaries)}`;
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
  return findings.filter((finding) => finding.status !== "pass" && !isNote(finding));
}

/** Nothing that a person could do something about here. */
function isNote({ reason, mend }: Finding): boolean {
  return CONSEQUENCE.test(reason) || (mend === null && reason.startsWith("not checked: "));
}

function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ status }) => status === "fail") ?? findings[0];
}

/** What fails comes before all, and of warnings one that a person can do something about. */
function mostUseful(findings: readonly Finding[]): Finding | undefined {
  const failed = findings.find(({ status }) => status === "fail");
  return failed ?? findings.find(({ mend }) => mend !== null) ?? findings[0];
}

function textOf({ findings, causes, as }: Summary): string {
  const worst = worstOf(causes);
  if (worst === undefined) return as.length > 0 ? `as ${as.join(" and ")}` : wellText(findings);
  const more = causes.length === 1 ? "" : ` (and ${causes.length - 1} more)`;
  // What a setting has to look like is told with the whole list.
  return `${worst.check}: ${worst.reason.replace(/; expected .*$/, "")}${more}`;
}

function wellText(findings: readonly Finding[]): string {
  const passed = findings.filter(({ status }) => status === "pass").length;
  const notes = findings.length - passed;
  return `${passed} ok${notes === 0 ? "" : `, ${notes} not checked`}`;
}

function nextText(summaries: readonly Summary[]): string {
  const first = mostUseful(summaries.flatMap(({ causes }) => causes));
  const all = "Everything that was looked at: opsctl doctor --all\n";
  if (first === undefined) return `\n${all}`;
  return `\nNext, for ${first.command}:\n  ${first.mend ?? `opsctl doctor ${first.command}`}\n\n${all}`;
}
