import { truncate } from "../../text/truncate.ts";
import { withoutArrows } from "../../text/without-arrows.ts";
import { DOCTOR_COMMANDS, type Finding } from "../finding.ts";

const MAX_LENGTH = 2_000;
const CODE = /^\w{1,100}$/;

/** The findings of one check that a doctor in a child process reports; there may be none. */
export type ReportedCheck = { command: string; check: string; findings: Finding[] };

/**
 * Reads the line of JSON that a doctor in a child process prints for one check; null when the line is something else.
 *
 * Behaviour: the child ran as an account that root does not trust. Anything that is not a finding of that check is left
 *            out, and no text can move a terminal's cursor or look like a line of advice. `reportedMend` judges the
 *            lines that mend.
 */
export function parseReportedFindings(line: string): ReportedCheck | null {
  const { command, check, findings } = parsed(line);
  if (typeof command !== "string" || typeof check !== "string" || !Array.isArray(findings)) return null;
  const own = findings.flatMap(findingIn).filter((one) => one.command === command && one.check === check);
  return { command, check, findings: own };
}

function parsed(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}

function findingIn(value: unknown): Finding[] {
  const { command, check, status, code, reason, mend, because } = Object(value) as Record<string, unknown>;
  if (!isOneOf(DOCTOR_COMMANDS, command) || typeof check !== "string" || typeof reason !== "string")
    return [];
  const shown = {
    ...{ command, check: plain(check), reason: plain(reason) },
    mend: typeof mend === "string" ? plain(mend) : null,
    ...(because === "not_checked" ? { because: "not_checked" as const } : {}),
  };
  if (isOneOf(["pass", "not_set_up"], status)) return [{ ...shown, status, code: null }];
  if (!isOneOf(["warn", "fail"], status)) return [];
  const isCode = typeof code === "string" && CODE.test(code);
  return [{ ...shown, status, code: isCode ? code : "CHECK_FAILED" }];
}

function isOneOf<const T extends string>(words: readonly T[], value: unknown): value is T {
  return words.some((word) => word === value);
}

function plain(text: string): string {
  return truncate(withoutArrows(text), MAX_LENGTH);
}
