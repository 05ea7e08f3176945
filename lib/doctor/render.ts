import { command, reasonText } from "../health/result.ts";
import { fixLines, hangingLines } from "../text/terminal/prose.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import type { CommandName, Finding } from "./context.ts";

type Status = Finding["status"];

const MARKS = {
  pass: { mark: "ok", tone: "good" },
  warn: { mark: "warn", tone: "warning" },
  fail: { mark: "FAIL", tone: "bad" },
  not_set_up: { mark: "-", tone: "label" },
} as const satisfies Record<Status, object>;

/** The checks of files that several commands share. */
const OF_FILES = ["environment file", "secrets"];

/** The findings as text for people, command by command, each with its fix below; of a file that several share, once. */
export function renderFindings(findings: readonly Finding[], screen: Screen): string {
  const seen = new Map<string, CommandName>();
  const blocks = [...Map.groupBy(findings, ({ command: of }) => of)].flatMap(([of, own]) => [
    paint("title", of, screen),
    ...own.flatMap((finding) => {
      const first = seen.get(shown(finding)) ?? of;
      const isFile = finding.status === "fail" && OF_FILES.includes(finding.check);
      if (isFile) seen.set(shown(finding), first);
      if (first !== of)
        return markedLines("fail", { name: "", text: `${finding.check}: as ${first}` }, screen);
      const lines = markedLines(finding.status, { name: "", text: shown(finding) }, screen);
      return finding.fix === null ? lines : [...lines, ...fixLines("        -> ", finding.fix, screen)];
    }),
    "",
  ]);
  const count = (status: Status) => countOf(findings, status);
  const unused = count("not_set_up") === 0 ? "" : `, ${count("not_set_up")} not set up`;
  const counts = `${count("pass")} ok, ${count("warn")} warn, ${count("fail")} FAIL${unused}`;
  return `${[...blocks, counts].join("\n")}\n`;
}

function countOf(findings: readonly Finding[], status: Status): number {
  return findings.filter((finding) => finding.status === status).length;
}

function shown(finding: Finding): string {
  return `${finding.check}: ${reasonText(finding)}`;
}

function markedLines(status: Status, line: { name: string; text: string }, screen: Screen): string[] {
  const { mark, tone } = MARKS[status];
  const [first = "", ...more] = hangingLines(`  ${mark.padEnd(4)}  ${line.name}`, line.text, screen);
  return [first.replace(mark, () => paint(tone, mark, screen)), ...more];
}

/**
 * The findings in a line for each command, and the one step that comes next.
 *
 * Behaviour: a cause that several commands share is listed once, with the first of them. `option` names the environment
 *            files that were read, for the commands that come next.
 */
export function renderSummary(findings: readonly Finding[], screen: Screen, option: string): string {
  const commands = Map.groupBy(findings, (finding) => finding.command);
  const width = Math.max(0, ...[...commands.keys()].map((of) => of.length));
  const causes = new Map<string, Finding>();
  const lines = [...commands].flatMap(([of, own]) => {
    const shared = new Set<CommandName>();
    const problems = problemsOf(own);
    for (const problem of problems) {
      const first = causes.get(shown(problem)) ?? problem;
      causes.set(shown(problem), first);
      if (first.command !== of) shared.add(first.command);
    }
    const ownCauses = [...causes.values()].filter((cause) => cause.command === of);
    const isUnused = own.every(({ status }) => status === "not_set_up");
    const status = isUnused ? "not_set_up" : (worstOf(problems)?.status ?? "pass");
    const text = summaryText(own, ownCauses, [...shared]);
    return markedLines(status, { name: `${of.padEnd(width)}  `, text }, screen);
  });
  const line = (words: string) => `  ${screen.clean(`opsctl doctor ${words}${option}`)}`;
  const isNothingUsed = findings.every(({ status }) => status === "not_set_up");
  const next = isNothingUsed
    ? [...hangingLines("", NOTHING_YET, screen), line("weekly")]
    : [...nextLines([...causes.values()], screen, option), "All findings:", line("--all")];
  return `${[...lines, "", ...next].join("\n")}\n`;
}

/** Weekly is the first part that most hosts have. */
const NOTHING_YET = "Nothing is set up on this host yet. What the first part needs:";

/** What a person can do something about: what was not checked counts only where its fix says how to check it. */
function problemsOf(findings: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ status, because, fix }) =>
      (status === "fail" || status === "warn") && (because !== "not_checked" || fix !== null),
  );
}

function worstOf(findings: readonly Finding[]): Finding | undefined {
  return findings.find(({ status }) => status === "fail") ?? findings[0];
}

function summaryText(
  findings: readonly Finding[],
  causes: readonly Finding[],
  shared: readonly CommandName[],
): string {
  const worst = worstOf(causes);
  const more = causes.length > 1 ? ` (and ${causes.length - 1} more)` : "";
  if (worst !== undefined) return shown(worst) + more;
  if (shared.length > 0) return `as ${shared.join(" and ")}`;
  const [passed, unused] = [countOf(findings, "pass"), countOf(findings, "not_set_up")];
  if (unused === findings.length) return "not set up";
  const unchecked = findings.length - passed - unused;
  const counted = (count: number, what: string) => (count > 0 ? `, ${count} ${what}` : "");
  return `${passed} ok${counted(unchecked, "not checked")}${counted(unused, "not set up")}`;
}

/** How soon a finding is worth a person's time: what fails, then what has a fix, last what nobody has to do today. */
function priorityOf({ status, fix, isNote }: Finding): number {
  if (status === "fail") return 0;
  if (isNote) return 3;
  return fix === null ? 2 : 1;
}

/** The step that comes next, and a blank line; nothing where nothing is wrong. */
function nextLines(causes: readonly Finding[], screen: Screen, option: string): string[] {
  const [first] = causes.toSorted((one, other) => priorityOf(one) - priorityOf(other));
  if (first === undefined) return [];
  const fix = first.fix ?? command(`opsctl doctor ${first.command}${option}`);
  return [`Next, for ${first.command}:`, ...fixLines("  ", fix, screen), ""];
}
