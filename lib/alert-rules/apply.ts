import type { GrafanaClient, PlatformProblem, RuleWrite } from "../providers/grafana/client.ts";
import { singleLine } from "../text/single-line.ts";
import { fieldChanges } from "./changes.ts";
import type { PlannedRule } from "./plan.ts";

/**
 * The result for one rule.
 *
 * Shape: `code` and `message` say why for `conflict` and `failed`, and are null otherwise.
 */
export type AppliedRule = {
  uid: string;
  title: string;
  group: string;
  result: "created" | "updated" | "unchanged" | "conflict" | "failed";
  code: string | null;
  message: string | null;
};

/**
 * Writes each rule that differs, one after another, each once; calls `onRule` after each.
 *
 * Behaviour: a rule that fails does not stop the next. After a failed write the platform's copy decides whether the
 *            rule is as it should be: another run may have been faster, and a lost answer may hide a success.
 */
export async function applyRules(
  platform: GrafanaClient,
  planned: readonly PlannedRule[],
  onRule: (applied: AppliedRule) => void = () => {},
): Promise<AppliedRule[]> {
  const applied: AppliedRule[] = [];
  for (const rule of planned) {
    const result = await applyRule(platform, rule);
    applied.push(result);
    onRule(result);
  }
  return applied;
}

async function applyRule(platform: GrafanaClient, rule: PlannedRule): Promise<AppliedRule> {
  if (rule.action === "none") return outcome(rule, "unchanged");
  if (rule.action === "conflict") {
    const other = singleLine(rule.conflictsWith ?? "");
    return outcome(rule, "conflict", "rule_title_taken", `the rule ${other} has this title in this group`);
  }
  const isNew = rule.action === "create";
  const write = await (isNew ? platform.createRule(rule.document) : platform.replaceRule(rule.document));
  const problem = await problemAfter(platform, rule, write);
  if (problem !== null) return outcome(rule, "failed", problem.code, problem.message);
  const wasFaster = write.status !== "ok" && isConflict(write.problem);
  if (wasFaster) return outcome(rule, "unchanged");
  return outcome(rule, isNew ? "created" : "updated");
}

/** Why the rule is not on the platform as it should be, or null when it is. */
async function problemAfter(
  platform: GrafanaClient,
  { document }: PlannedRule,
  write: RuleWrite,
): Promise<PlatformProblem | null> {
  if (write.status === "ok" && fieldChanges(write.rule, document).length === 0) return null;
  const reading = await platform.readRule(document.uid);
  if (reading.status !== "ok") return write.status === "ok" ? reading.problem : write.problem;
  const changes = reading.value === null ? null : fieldChanges(reading.value, document);
  if (changes?.length === 0) return null;
  if (write.status !== "ok") return write.problem;
  const paths = changes?.map(({ path }) => path).join(", ") ?? "everything";
  return {
    code: "rule_stored_differently",
    status: null,
    message: `the platform kept something else: ${paths}`,
  };
}

/** Whether another write came first; older versions say so with a 400 that names the conflict. */
function isConflict({ status, message }: PlatformProblem): boolean {
  return status === 409 || (message?.startsWith("[alerting.alert-rule.conflict]") ?? false);
}

function outcome(
  { uid, title, group }: PlannedRule,
  result: AppliedRule["result"],
  code: string | null = null,
  message: string | null = null,
): AppliedRule {
  return { uid, title, group, result, code, message };
}
