import type { GrafanaClient } from "../providers/grafana/client.ts";
import { singleLine } from "../text/single-line.ts";
import { fieldChanges } from "./compare.ts";
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
 * Behaviour: a rule that fails does not stop the next. After each write Grafana's copy decides whether the rule is as
 *            wanted: another run may have been faster, and a lost answer may hide a success.
 */
export async function applyRules(
  grafana: GrafanaClient,
  planned: readonly PlannedRule[],
  onRule: (applied: AppliedRule) => void = () => {},
): Promise<AppliedRule[]> {
  const applied: AppliedRule[] = [];
  for (const rule of planned) {
    const { uid, title, group } = rule;
    const result = { uid, title, group, code: null, message: null, ...(await applyRule(grafana, rule)) };
    applied.push(result);
    onRule(result);
  }
  return applied;
}

type Result = Pick<AppliedRule, "result"> & Partial<AppliedRule>;

async function applyRule(grafana: GrafanaClient, rule: PlannedRule): Promise<Result> {
  const { action, document } = rule;
  if (action === "none") return { result: "unchanged" };
  if (action === "conflict") {
    const message = `the rule ${singleLine(rule.conflictsWith ?? "")} has this title in this group`;
    return { result: "conflict", code: "rule_title_taken", message };
  }
  const isNew = action === "create";
  const write = await (isNew ? grafana.createRule(document) : grafana.replaceRule(document));
  const stored = await grafana.readRule(document.uid);
  const changes =
    stored.status === "ok" && stored.value !== null ? fieldChanges(stored.value, document) : null;
  if (changes?.length === 0) {
    // Refused, and yet in place: another run wrote it first.
    const isOfAnother = write.status === "failed" && isRefused(write.problem);
    return { result: isOfAnother ? "unchanged" : isNew ? "created" : "updated" };
  }
  if (write.status === "failed") return failed(write.problem);
  if (stored.status === "failed") return failed(stored.problem);
  const paths = changes?.map(({ path }) => path).join(", ") ?? "everything";
  return failed({ code: "rule_stored_differently", message: `Grafana stored something else: ${paths}` });
}

function failed({ code, message }: { code: string; message: string | null }): Result {
  return { result: "failed", code, message };
}

function isRefused({ status }: { status: number | null }): boolean {
  return status !== null && status >= 400 && status <= 499;
}
