import type { GrafanaClient } from "../providers/grafana/client.ts";
import { singleLine } from "../text/single-line.ts";
import { fieldChanges } from "./compare.ts";
import type { PlannedRule, RuleName } from "./plan.ts";

/** The result for one rule; `code` and `message` say why for `conflict` and `failed`, and are null otherwise. */
export type AppliedRule = RuleName & {
  result: "created" | "updated" | "unchanged" | "conflict" | "failed";
  code: string | null;
  message: string | null;
};

/**
 * Writes each rule that differs, one after another, each once.
 *
 * Behaviour: a rule that fails does not stop the next. After each write Grafana's copy decides whether the rule is as
 *            wanted: another run may have been faster, and a lost answer may hide a success.
 */
export async function applyRules(
  grafana: GrafanaClient,
  planned: readonly PlannedRule[],
): Promise<AppliedRule[]> {
  const applied: AppliedRule[] = [];
  for (const rule of planned) {
    const { uid, title, group } = rule;
    applied.push({ uid, title, group, code: null, message: null, ...(await applyRule(grafana, rule)) });
  }
  return applied;
}

type Result = Pick<AppliedRule, "result"> & Partial<AppliedRule>;

async function applyRule(
  grafana: GrafanaClient,
  { action, document, conflictsWith }: PlannedRule,
): Promise<Result> {
  if (action === "none") return { result: "unchanged" };
  if (action === "conflict") {
    const message = `the rule ${singleLine(conflictsWith ?? "")} has this title in this group`;
    return { result: "conflict", code: "rule_title_taken", message };
  }
  const isNew = action === "create";
  const write = await (isNew ? grafana.createRule(document) : grafana.replaceRule(document));
  const stored = await grafana.readRule(document.uid);
  const changes = stored.status === "ok" && stored.value ? fieldChanges(stored.value, document) : null;
  if (changes?.length === 0) {
    const status = write.status === "failed" ? (write.problem.status ?? 0) : 0;
    // Refused, and yet in place: another run wrote it first.
    if (status >= 400 && status <= 499) return { result: "unchanged" };
    return { result: isNew ? "created" : "updated" };
  }
  if (write.status === "failed") return failed(write.problem);
  if (stored.status === "failed") return failed(stored.problem);
  const paths = changes?.map(({ path }) => path).join(", ") ?? "everything";
  return failed({ code: "rule_stored_differently", message: `Grafana stored something else: ${paths}` });
}

function failed({ code, message }: { code: string; message: string | null }): Result {
  return { result: "failed", code, message };
}
