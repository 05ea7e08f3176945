/** Runs opsctl's rules in promtool: rule file and test file are made from the rules, so nothing is written twice. */
import { type AlertRule, comparisonText } from "../../../lib/alert-rules/rules/rule.ts";
import type { Series } from "../../fixtures/rules/series.ts";
import { promtoolFindings } from "../../support/promtool.ts";

/** What must be so at one instant: which rules fire, and the one value of a rule's query, null for no series. */
export type Expectation = {
  at: string;
  fires?: Record<string, boolean>;
  values?: Record<string, number | null>;
};

/** What a rule is in the language of the tester. */
function testerRule(rule: AlertRule): { alert: string; expr: string; for: string } {
  return {
    alert: rule.uid,
    expr: `(${rule.query}) ${comparisonText(rule.condition)}`,
    for: `${rule.condition.forMinutes ?? 0}m`,
  };
}

/** Series and what must be so while the rules are evaluated over them; the tester says the name of one that fails. */
export type Case = { name: string; series: Series; expectations: readonly Expectation[] };

/** Runs the rules over the series and says what the tester found wrong; nothing when all is as expected. */
export function findingsOf(
  rules: readonly AlertRule[],
  series: Series,
  expectations: readonly Expectation[],
  evaluationInterval = "1m",
): string {
  return findingsOfAll(rules, [{ name: "series", series, expectations }], evaluationInterval);
}

/** The same for many cases, each on its own: a start of the tester costs as much as two of them. */
export function findingsOfAll(
  rules: readonly AlertRule[],
  cases: readonly Case[],
  evaluationInterval = "1m",
): string {
  const groups = [{ name: "rules", interval: evaluationInterval, rules: rules.map(testerRule) }];
  const test = {
    rule_files: ["rules.yml"],
    evaluation_interval: evaluationInterval,
    tests: cases.map((one) => testOf(rules, one)),
  };
  return promtoolFindings(["test", "rules", "test.yml"], { "rules.yml": { groups }, "test.yml": test });
}

function testOf(rules: readonly AlertRule[], { name, series, expectations }: Case) {
  const byUid = new Map(rules.map((rule) => [rule.uid, rule]));
  const known = (uid: string) => {
    const rule = byUid.get(uid);
    if (rule === undefined) throw new Error(`no rule ${uid} among those under test`);
    return rule;
  };
  return {
    name,
    interval: "1m",
    input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
    alert_rule_test: expectations.flatMap(({ at, fires = {} }) =>
      Object.entries(fires).map(([uid, isFiring]) => ({
        eval_time: at,
        alertname: known(uid).uid,
        exp_alerts: isFiring ? [{ exp_labels: {} }] : [],
      })),
    ),
    promql_expr_test: expectations.flatMap(({ at, values = {} }) =>
      Object.entries(values).map(([uid, value]) => ({
        expr: known(uid).query,
        eval_time: at,
        // One series without a label, or none.
        exp_samples: value === null ? [] : [{ labels: "{}", value }],
      })),
    ),
  };
}
