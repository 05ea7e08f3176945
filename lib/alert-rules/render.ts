import type { RuleDocument } from "../providers/grafana/document.ts";
import { singleLine } from "../text/single-line.ts";
import { prose, proseLines } from "../text/terminal/prose.ts";
import { NO_TERMINAL, type Screen } from "../text/terminal/screen.ts";
import type { AppliedRule } from "./apply.ts";
import type { FieldChange } from "./changes.ts";
import type { PlannedRule } from "./plan.ts";

/** Where a line that is longer than the terminal goes on. */
const INDENT = "      ";

const VERB = {
  create: "create    ",
  update: "update    ",
  none: "no change ",
  conflict: "CONFLICT  ",
} as const;

/** The rules as a JSON array, of which each can be posted by itself. */
export function renderExport(documents: readonly RuleDocument[]): string {
  return `${JSON.stringify(documents, null, 2)}\n`;
}

/** What `apply` would do, for people: a line for each rule, below it each field that changes, old and new. */
export function renderPlan(
  planned: readonly PlannedRule[],
  warnings: readonly string[],
  screen: Screen = NO_TERMINAL,
): string {
  const rules = planned.flatMap((rule) => [
    `${VERB[rule.action]} ${nameOf(rule)}`,
    ...rule.changes.flatMap((change) => changeLines(change, screen)),
    ...(rule.conflictsWith === null
      ? []
      : [
          `  the rule ${shown(rule.conflictsWith)} has this title in this group; rename or remove it by hand`,
        ]),
  ]);
  const count = planned.filter(({ action }) => action !== "none").length;
  const summary =
    count === 0 ? "Nothing to change." : `${count} of ${planned.length} rules differ from the platform.`;
  return prose([...rules, ...warningLines(warnings), summary], screen, { indent: INDENT });
}

/** What `apply` did, for people: a line for each rule, with the reason where it failed. */
export function renderApplied(
  applied: readonly AppliedRule[],
  warnings: readonly string[],
  screen: Screen = NO_TERMINAL,
): string {
  const rules = applied.flatMap((rule) => [
    `${rule.result.padEnd(10)} ${nameOf(rule)}`,
    ...(rule.code === null
      ? []
      : [`  ${rule.code}${rule.message === null ? "" : `: ${shown(rule.message)}`}`]),
  ]);
  const failed = applied.filter(({ code }) => code !== null).length;
  const summary =
    failed === 0 ? "All rules are in place." : `${failed} of ${applied.length} rules are NOT in place.`;
  return prose([...rules, ...warningLines(warnings), summary], screen, { indent: INDENT });
}

function warningLines(warnings: readonly string[]): string[] {
  return warnings.map((warning) => `Warning: ${warning}`);
}

function nameOf({ group, title, uid }: { group: string; title: string; uid: string }): string {
  return `${group} / ${title} (${uid})`;
}

/** A field's old and new value; the platform may hold a word that is longer than any terminal. */
export function changeLines({ path, from, to }: FieldChange, screen: Screen): string[] {
  const line = `  ${shown(path)}: ${valueText(from)} -> ${valueText(to)}`;
  return proseLines(line, screen, { indent: INDENT, breaksWords: true });
}

/** A value of the platform as text: it may hold anything, and a terminal must not act on it. */
function valueText(value: unknown): string {
  return value === null ? "(none)" : shown(JSON.stringify(value));
}

function shown(text: string): string {
  return singleLine(text);
}
