import { singleLine } from "../text/single-line.ts";
import { prose, proseLines } from "../text/terminal/prose.ts";
import type { Screen } from "../text/terminal/screen.ts";
import type { AppliedRule } from "./apply.ts";
import type { FieldChange } from "./compare.ts";
import type { AppliedPoint } from "./contact-point.ts";
import type { PlannedRule, RuleName } from "./plan.ts";

/** The indent of a continuation line. */
const INDENT = "      ";

const ACTION = { create: "create", update: "update", none: "no change", conflict: "CONFLICT" } as const;

const SECRET = {
  written: "The secret was written.",
  not_compared:
    "Grafana does not show the secret, so it was not compared; after a change of WEBHOOK_SECRET add --rotate.",
} as const;

/** What `apply` would do, for people: a line for each rule, below it each field that changes, old and new. */
export function renderPlan(
  planned: readonly PlannedRule[],
  warnings: readonly string[],
  screen: Screen,
): string {
  const lines = planned.flatMap(({ action, changes, conflictsWith, ...rule }) => [
    ruleLine(ACTION[action], rule),
    ...changes.flatMap((change) => changeLines(change, screen)),
    ...(conflictsWith === null
      ? []
      : [
          `  the rule ${singleLine(conflictsWith)} has this title in this group; rename or remove it manually`,
        ]),
  ]);
  const count = planned.filter(({ action }) => action !== "none").length;
  const summary =
    count === 0 ? "Nothing to change." : `${count} of ${planned.length} rules differ from Grafana.`;
  return withWarnings(lines, warnings, summary, screen);
}

/** What `apply` did, for people: a line for each rule, with the reason where it failed. */
export function renderApplied(
  applied: readonly AppliedRule[],
  warnings: readonly string[],
  screen: Screen,
): string {
  const lines = applied.flatMap(({ result, code, message, ...rule }) => [
    ruleLine(result, rule),
    ...(code === null ? [] : [`  ${code}${message === null ? "" : `: ${singleLine(message)}`}`]),
  ]);
  const failed = applied.filter(({ code }) => code !== null).length;
  const summary =
    failed === 0 ? "All rules are in place." : `${failed} of ${applied.length} rules are NOT in place.`;
  return withWarnings(lines, warnings, summary, screen);
}

/** What was done to the contact point, for people; no secret is in it. */
export function renderPoint(applied: AppliedPoint, screen: Screen): string {
  const { name, uid, result, changes, secret } = applied;
  const changed = changes.flatMap((change) => changeLines(change, screen));
  return withWarnings([`${result.padEnd(10)} ${name} (${uid})`, ...changed], [], SECRET[secret], screen);
}

function withWarnings(lines: string[], warnings: readonly string[], summary: string, screen: Screen): string {
  const warned = warnings.map((warning) => `Warning: ${warning}`);
  return prose([...lines, ...warned, summary], screen, { indent: INDENT });
}

function ruleLine(word: string, { group, title, uid }: RuleName): string {
  return `${word.padEnd(10)} ${group} / ${title} (${uid})`;
}

/** A field's old and new value; Grafana may hold a word that is longer than any terminal. */
function changeLines({ path, from, to }: FieldChange, screen: Screen): string[] {
  const line = `  ${singleLine(path)}: ${valueText(from)} -> ${valueText(to)}`;
  return proseLines(line, screen, { indent: INDENT, breaksWords: true });
}

function valueText(value: unknown): string {
  return value === null ? "(none)" : singleLine(JSON.stringify(value));
}
