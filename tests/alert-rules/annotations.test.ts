/**
 * Every annotation of every rule, expanded by the template engine that Grafana itself uses (Prometheus' expander,
 * here inside promtool's rule tester), with a value and without. The expander knows no `$values`, so the test puts it
 * before each text, made of a sample of the metrics store; its key is `arg0` there instead of `B`.
 */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alertRules } from "../../lib/alert-rules/rules/all.ts";
import type { AlertRule } from "../../lib/alert-rules/rules/rule.ts";
import { runPromtool } from "../support/promtool.ts";
import { requires } from "../support/requires.ts";
import { VALUE_CASES, withValue } from "./support/value-cases.ts";

const rules = alertRules({ withExtras: true });

/** Declares `$values`: empty in the case named none, else with the sample of the case. */
const PREFIX =
  '{{ $values := args }}{{ if ne $labels.case "none" }}' +
  '{{ $values = args (query (printf "sample{case=%q}" $labels.case) | first) }}{{ end }}';

type Texts = Pick<AlertRule, "summary" | "description">;

/** What the engine found different from the expected texts; nothing when all are as expected. */
function findings(annotated: readonly (Texts & { uid: string })[]): string {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-annotations-"));
  try {
    writeFileSync(join(folder, "rules.yml"), JSON.stringify({ groups: [groupOf(annotated)] }));
    writeFileSync(join(folder, "test.yml"), JSON.stringify(testOf(annotated)));
    const { status, output } = runPromtool(["test", "rules", join(folder, "test.yml")]);
    return status === 0 && output.includes("SUCCESS") ? "" : output || `promtool ended with ${status}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function groupOf(annotated: readonly (Texts & { uid: string })[]) {
  const expandable = (text: string) => PREFIX + text.replaceAll("$values.B", "$values.arg0");
  const ruleOf = ({ uid, summary, description }: Texts & { uid: string }) => ({
    alert: uid,
    expr: "sample",
    annotations: { summary: expandable(summary), description: expandable(description) },
  });
  return { name: "annotations", rules: annotated.map(ruleOf) };
}

function testOf(annotated: readonly (Texts & { uid: string })[]) {
  const expected = ({ summary, description }: Texts) =>
    VALUE_CASES.map((valueCase) => ({
      exp_labels: { case: valueCase.name },
      exp_annotations: {
        summary: withValue(summary, valueCase),
        description: withValue(description, valueCase),
      },
    }));
  return {
    rule_files: ["rules.yml"],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: VALUE_CASES.map(({ name, sample }) => ({
          series: `sample{case="${name}"}`,
          values: `${sample} ${sample}`,
        })),
        alert_rule_test: annotated.map((rule) => ({
          eval_time: "1m",
          alertname: rule.uid,
          exp_alerts: expected(rule),
        })),
      },
    ],
  };
}

const tested = requires("promtool");

describe("the annotations", () => {
  tested.test("the annotations of all rules say what was measured, or that nothing was", () => {
    expect(findings(rules)).toBe("");
  });

  tested.test("are really expanded: a value without its guard is found", () => {
    const bare = { uid: "bare", summary: "s", description: 'x {{ printf "%.0f" $values.B.Value }}' };
    expect(findings([bare])).toContain("error expanding template");
  });

  test("hold no template but the guarded values", () => {
    for (const { summary, description } of rules) {
      expect(withValue(summary, VALUE_CASES[0]!)).toBe(summary);
      expect(withValue(description, VALUE_CASES[0]!)).not.toMatch(/[{}]{2}|\$(values|labels|value)\b/);
    }
  });

  test("name the unit of the value where it is bytes or a percentage", () => {
    const named = rules.flatMap(({ uid, unit }) => (unit === undefined ? [] : [[uid, unit]]));
    expect(named).toEqual([
      ["opsctl-traefik-ram", "bytes"],
      ["opsctl-root-disk", "percent"],
      ["opsctl-ram-available", "percent"],
    ]);
    for (const { query, unit } of rules)
      expect(
        /bytes/.test(query) && !/100 \*/.test(query) ? "bytes" : /100 \*/.test(query) ? "percent" : undefined,
      ).toBe(unit);
  });

  test("show the value, but of the rules whose value is a mere yes or no", () => {
    const silent = rules.filter(({ description }) => !description.includes("{{")).map(({ uid }) => uid);
    expect(silent).toEqual([
      "opsctl-deploy-failed",
      "opsctl-weekly-report-not-run",
      "opsctl-weekly-report-incomplete",
      "opsctl-collector-failing",
      "opsctl-webhook-stopped",
      "opsctl-gateway-disconnected",
      "opsctl-security-log-silent",
    ]);
  });
});
