import type { Finding } from "./finding.ts";

/** How a finding is marked. */
export const MARK: Record<Finding["status"], string> = { pass: "ok  ", warn: "warn", fail: "FAIL" };

/** The findings as text for people, command by command, each with the line that mends it below. */
export function renderFindings(findings: readonly Finding[]): string {
  const commands = [...new Set(findings.map(({ command }) => command))];
  const blocks = commands.map((command) => {
    const own = findings.filter((finding) => finding.command === command);
    return [command, ...own.flatMap(linesOf), ""].join("\n");
  });
  return `${blocks.join("\n")}\n${total(findings)}\n`;
}

function linesOf({ check, status, reason, mend }: Finding): string[] {
  const line = `  ${MARK[status]}  ${check}: ${reason}`;
  return mend === null ? [line] : [line, `        -> ${mend}`];
}

function total(findings: readonly Finding[]): string {
  const count = (status: Finding["status"]) => findings.filter((finding) => finding.status === status).length;
  return `${count("pass")} ok, ${count("warn")} warn, ${count("fail")} FAIL`;
}
