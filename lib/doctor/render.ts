import { fixLines } from "../text/terminal/fix-lines.ts";
import { hangingLines } from "../text/terminal/hanging-lines.ts";
import { paint, type Screen } from "../text/terminal/screen.ts";
import type { Finding } from "./finding.ts";

/** How a finding is marked. */
const MARK: Record<Finding["status"], string> = {
  pass: "ok  ",
  warn: "warn",
  fail: "FAIL",
  not_set_up: "-   ",
};

const TONE = { pass: "good", warn: "warning", fail: "bad", not_set_up: "label" } as const;

/** The findings as text for people, command by command, each with its fix below. */
export function renderFindings(findings: readonly Finding[], screen: Screen): string {
  const commands = [...new Set(findings.map(({ command }) => command))];
  const blocks = commands.map((command) => {
    const own = findings.filter((finding) => finding.command === command);
    const lines = own.flatMap((finding) => linesOf(finding, screen));
    return [paint("title", command, screen), ...lines, ""].join("\n");
  });
  return `${blocks.join("\n")}\n${total(findings)}\n`;
}

/** A mark with what is said beside it, on as many lines as it needs. */
export function markedLines(
  status: Finding["status"],
  { name, text }: { name: string; text: string },
  screen: Screen,
): string[] {
  const [first = "", ...more] = hangingLines(`  ${MARK[status]}  ${name}`, text, screen, {
    hasCommand: false,
  });
  const painted = paint(TONE[status], MARK[status].trimEnd(), screen);
  return [first.replace(MARK[status].trimEnd(), () => painted), ...more];
}

function linesOf({ check, status, reason, fix }: Finding, screen: Screen): string[] {
  const lines = markedLines(status, { name: "", text: `${check}: ${reason}` }, screen);
  return fix === null ? lines : [...lines, ...fixLines("        -> ", fix, screen)];
}

function total(findings: readonly Finding[]): string {
  const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
  const left = count("not_set_up");
  const leftOut = left === 0 ? "" : `, ${left} not set up`;
  return `${count("pass")} ok, ${count("warn")} warn, ${count("fail")} FAIL${leftOut}`;
}
